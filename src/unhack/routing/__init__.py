"""Gradient routing for a training loop that is not ours: TRL's trainers, or any torch loop.

`attach` puts a kept and a quarantined block into a model, `hack_gate` says which rollouts teach a
hack, `routed` makes a TRL trainer that sends these to the quarantine, `Router` does the same in a
loop of one's own. `Quarantine.deploy` deletes the quarantine, `Quarantine.to_peft` writes what is
kept as a LoRA.
"""

from unhack.routing.extras import NEEDED
from unhack.routing.gate import HackGate, hack_gate
from unhack.routing.pairs import TextPair, read_pairs
from unhack.routing.quarantine import Quarantine, attach
from unhack.routing.router import Router
from unhack.routing.trainer import routed

__all__ = [
    "NEEDED",
    "HackGate",
    "Quarantine",
    "Router",
    "TextPair",
    "attach",
    "hack_gate",
    "read_pairs",
    "routed",
]
