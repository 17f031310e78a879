"""Gradient routing for a training loop that is not ours: TRL's trainers, or any torch loop.

`attach` puts a kept and a quarantined block into a model, `hack_gate` says which rollouts teach a
hack, `routed` makes a TRL trainer that sends these to the quarantine, `Router` does the same in a
loop of one's own. `Quarantine.deploy` deletes the quarantine; `save` writes the model with what is
kept, `merge` puts that into its weights, `to_peft` writes it as a LoRA. `LeakAlarm` says, without
labels, whether the kept block does what the quarantine should.
"""

from unhack.routing.extras import NEEDED
from unhack.routing.gate import HackGate, hack_gate
from unhack.routing.pairs import TextPair, read_pairs
from unhack.routing.quarantine import Quarantine, attach
from unhack.routing.router import Router
from unhack.routing.trainer import routed
from unhack.training.routing.leak import LeakAlarm, claimed_share

__all__ = [
    "NEEDED",
    "HackGate",
    "LeakAlarm",
    "Quarantine",
    "Router",
    "TextPair",
    "attach",
    "claimed_share",
    "hack_gate",
    "read_pairs",
    "routed",
]
