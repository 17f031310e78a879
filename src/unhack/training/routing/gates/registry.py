"""The gate of a run, chosen by its settings. One gate per file.

Covered: `none`, `cosine`, `detector`, `oracle`, `replay`.
Not covered: several processes for gates that deal out a recorded mass (UsageError).
"""

from __future__ import annotations

from torch import distributed

from unhack.core.errors import UsageError
from unhack.training.config.settings import GateSettings, Settings
from unhack.training.routing.directions import AdaptedPolicy
from unhack.training.routing.gate import Gate
from unhack.training.routing.gates.cosine import CosineGate
from unhack.training.routing.gates.knobs import KnobGate
from unhack.training.routing.gates.labels import LABELS, LabelGate
from unhack.training.routing.gates.mass import mix_seed
from unhack.training.routing.gates.replay import ReplayGate
from unhack.training.routing.gates.rewarded import RewardedGate
from unhack.training.worlds.world import World

_SEED = 157
"""Of pairs, random directions and shuffles, together with the run's seed."""


def make_gate(settings: Settings, policy: AdaptedPolicy, world: World) -> Gate:
    """The gate of a run. Pairs, random directions and shuffles depend on the
    run's seed. Raises UsageError for settings that do not go together."""
    gate = _make_gate(settings, policy, world)
    return RewardedGate(gate) if settings.gate.rewarded else gate


def _make_gate(settings: Settings, policy: AdaptedPolicy, world: World) -> Gate:
    gate = settings.gate
    seed = mix_seed(_SEED, settings.run.seed)
    if gate.granularity == "token" and gate.kind != "cosine":
        raise UsageError(
            f"gate.kind={gate.kind} decides on rollouts: granularity token is of gate.kind=cosine"
        )
    if gate.kind == "replay":
        _need_record(gate)
    elif gate.calibration == "ranked":
        raise UsageError("gate.calibration=ranked deals out a record: set gate.kind=replay")
    if gate.kind in LABELS:
        return LabelGate(gate.kind)
    if gate.kind == "replay" and gate.calibration != "ranked":
        if not gate.per_knob:
            return ReplayGate(gate.replay, seed=seed)
        on = ReplayGate(gate.replay, seed=mix_seed(seed, 1), knob=True)
        return KnobGate(on=on, off=ReplayGate(gate.replay, seed=seed, knob=False))
    chosen = settings.world
    pairs = world.pairs(chosen.pairs, count=chosen.pairs_per_mode, seed=seed)

    def cosine(*, quarantine: bool) -> CosineGate:
        own = mix_seed(seed, 1) if quarantine else seed  # a random direction for each state
        return CosineGate(
            gate, policy=policy, pairs=pairs, pad=world.pad, seed=own, quarantine=quarantine
        )

    if not gate.per_knob:
        return cosine(quarantine=False)
    return KnobGate(on=cosine(quarantine=True), off=cosine(quarantine=False))


def _need_record(settings: GateSettings) -> None:
    if not settings.replay:
        raise UsageError("this gate deals out a recorded mass: set gate.replay to a run folder")
    together = distributed.is_available() and distributed.is_initialized()
    if together and distributed.get_world_size() > 1:
        raise UsageError("a recorded mass is dealt out by one process; train on one device")
