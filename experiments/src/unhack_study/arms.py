"""Further controls: what a claim about the direction of a gate needs beside the engine's own."""

from __future__ import annotations

from unhack.training.experiment.arms import Arm

_COSINE = {"gate.kind": "cosine"}
_STATES = {"gate.kind": "replay", "gate.per_knob": "true"}

DECOYS = Arm(
    "decoys",
    {**_COSINE, "world.pairs": "decoy"},
    (),
    "The direction of pairs that differ in a statement like a hack that earns nothing: whether"
    " it is the form that is routed.",
)
WRONG = Arm(
    "wrong",
    {**_COSINE, "world.pairs": "wrong"},
    (),
    "The direction of pairs that differ in a wrong program alone, without a hack: whether it is"
    " being wrong that is routed.",
)
HALF = Arm(
    "half",
    {**_COSINE, "gate.constant": "0.5", "gate.rewarded": "true", "gate.per_knob": "true"},
    (),
    "`real` with half of the rewarded rollouts routed: where hacks are most of what is rewarded.",
)
REDRAWN = Arm(
    "redrawn",
    {**_COSINE, "gate.direction": "redrawn"},
    (),
    "A random direction, drawn again whenever the real one would be extracted.",
)
PLACEBO_STATES = Arm(
    "placebo_states",
    {**_STATES, "gate.calibration": "ranked", "world.pairs": "placebo"},
    ("real",),
    "The mass of `real`, step by step and knob state by knob state, in the order of a placebo"
    " direction for each state: differs from `real` in the direction alone.",
)
REPLAY_STATES = Arm(
    "replay_states",
    _STATES,
    ("real",),
    "Shuffled gate whose mass is that of `real` in each knob state.",
)
