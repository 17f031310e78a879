"""The arms of an experiment: what each changes, which record it replays, what it rules out.

An arm is a set of overrides of `Settings`. Its purpose says what a difference from it means. Arms
that `need` another replay that arm's recorded routing, of the same seed and base model.

Covered: the routed arms, the controls that run with every routed arm, what people do instead, and
the two bounds; further arms of installed distributions, each named in the entry point group
`unhack.arms`. Not covered: seeds and base models (`experiment.sweep`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

from unhack.core.errors import UnknownNameError, UsageError
from unhack.sandbox.distributions import entry_points, load
from unhack.training.config.settings import Settings
from unhack.training.config.supported import check_schedule, recipe
from unhack.training.config.toml import layer, override
from unhack.training.experiment.plan_files import STUDY

DEFAULT_ARM = "real"
"""The arm of a run that names none."""
VANILLA, CEILING = "vanilla", "ceiling"
"""Plain training with the loophole, and without any."""
RECIPE = "top_rewarded"
"""The settings that such runs begin from."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to train.

    Example:

        Arm("low_share", {"gate.kind": "cosine", "gate.constant": "0.1"}, (), "Routes a tenth.")
    """

    name: str
    overrides: Mapping[str, str]
    """`table.field` to its value, as text."""
    needs: tuple[str, ...]
    """Arms whose run folder it replays (`gate.replay` or `optimiser.shrink`)."""
    purpose: str


def find_arm(name: str) -> Arm:
    """An arm by its name, of an installed distribution too. Raises UnknownNameError, and UsageError
    where a distribution names one as the engine does."""
    found = _installed()
    if name in ARMS:
        return ARMS[name]
    if name not in found:
        listed = "" if found else f"further arms are those of the study: {STUDY}"
        raise UnknownNameError("arm", name, valid=[*ARMS, *found], listed=listed)
    return load(found[name], Arm)


def all_arms() -> dict[str, Arm]:
    """Every arm by its name, those of installed distributions last."""
    return {**ARMS, **{name: load(point, Arm) for name, point in _installed().items()}}


def controls_of(name: str) -> tuple[str, ...]:
    """The arms that run by default beside an arm: none, unless it routes by a direction or labels.

    Those that replay a record replay that of `real`, which therefore comes first for other routed
    arms. Raises UnknownNameError.
    """
    if find_arm(name).name not in ROUTED:
        return ()
    return CONTROLS if name == DEFAULT_ARM else (DEFAULT_ARM, *CONTROLS)


def apply_arm(settings: Settings, name: str) -> Settings:
    """Settings with those of an arm on top. Raises UnknownNameError, UsageError where the arm is
    none with these settings."""
    found = override(settings, find_arm(name).overrides)
    if name != "capacity":
        return found
    if found.adapter.kind == "svd":
        raise UsageError("arm capacity has twice the rank; adapter.kind=svd has none to raise")
    return override(found, {"adapter.rank": str(2 * found.adapter.rank)})


def _installed() -> dict[str, EntryPoint]:
    found = entry_points("unhack.arms")
    if taken := found.keys() & ARMS.keys():
        names = ", ".join(sorted(taken))
        raise UsageError(f"an installed distribution brings arms of the engine's names: {names}")
    return found


def _arms(*arms: Arm) -> dict[str, Arm]:
    return {arm.name: arm for arm in arms}


_COSINE = {"gate.kind": "cosine"}
_REPLAY = {"gate.kind": "replay"}

ARMS: Mapping[str, Arm] = _arms(
    Arm("vanilla", {}, (), "No quarantine trains: what the loophole does to plain training."),
    Arm(
        "real",
        _COSINE,
        (),
        "Routes the rewarded rollouts that lie most along the direction of hack pairs.",
    ),
    Arm(
        "random",
        {**_COSINE, "gate.direction": "random"},
        (),
        "A random (Haar) direction: what the machinery does without a direction that means"
        " anything.",
    ),
    Arm(
        "random_ranked",
        {**_REPLAY, "gate.calibration": "ranked", "gate.direction": "random"},
        ("real",),
        "The mass of `real`, step by step, in the order of a random direction: rules out that any"
        " direction does with this mass.",
    ),
    Arm(
        "replay",
        _REPLAY,
        ("real",),
        "Shuffled gate: the recorded fractions of `real` dealt to random rollouts of the step."
        " The same mass, no association.",
    ),
    Arm(
        "placebo",
        {**_COSINE, "world.pairs": "placebo"},
        (),
        "The direction of pairs that differ in something harmless.",
    ),
    Arm(
        "placebo_ranked",
        {**_REPLAY, "gate.calibration": "ranked", "world.pairs": "placebo"},
        ("real",),
        "The mass of `real`, step by step, in the order of the placebo direction.",
    ),
    Arm(
        "filter",
        {**_COSINE, "gate.action": "drop"},
        (),
        "The gate of `real` without a quarantine: what it picks is dropped. What is left of a"
        " difference from `real` is the quarantine's.",
    ),
    Arm(
        "reverse",
        {**_COSINE, "gate.action": "reverse"},
        (),
        "The gate of `real` as a weak detector: what it picks counts against the deployed block.",
    ),
    Arm(
        "shrink",
        {},
        ("real",),
        "Vanilla whose update is scaled by the kept share of `real`, step by step: rules out that"
        " routing is a smaller step.",
    ),
    Arm(
        "capacity",
        {},
        (),
        "Vanilla with twice the rank: its deployed block has the parameters of both blocks (kind"
        " `svd` has no rank to raise).",
    ),
    Arm(
        "ceiling",
        {"world.loophole_share": "0"},
        (),
        "Vanilla without any loophole: how much can be learnt. An upper bound.",
    ),
    Arm(
        "oracle",
        {"gate.kind": "oracle"},
        (),
        "Routes what the strict oracle calls a hack. An upper bound of routing.",
    ),
    Arm(
        "detector",
        {"gate.kind": "detector"},
        (),
        "Routes what the weak detector of the known modes labels.",
    ),
    Arm(
        "detector_penalty",
        {"baseline.kind": "detector_penalty"},
        (),
        "Takes reward off what the weak detector labels.",
    ),
)
"""The arms of the engine by their names."""

CONTROLS = (
    "vanilla", "random", "random_ranked", "replay", "placebo", "placebo_ranked", "shrink",
    "capacity", "ceiling",
)  # fmt: skip
"""Controls that run beside every routed arm."""

ROUTED = ("real", "detector", "oracle")
"""Arms whose quarantine is trained on purpose."""


def choose_settings(
    tables: Mapping[str, Mapping[str, Any]],
    arm: str,
    above: Mapping[str, Mapping[str, Any]] | None = None,
    overrides: Mapping[str, str] | None = None,
) -> Settings:
    """The recipe, then `tables`, the arm, `above`, and `overrides` of `table.field` as text.

    Raises UsageError, UnknownNameError.
    """
    found = layer(recipe(RECIPE), tables, source="settings")
    if arm:
        found = apply_arm(found, arm)
    found = override(layer(found, above or {}, source="settings"), overrides or {})
    check_schedule(found)
    return found
