"""The arms of an experiment: what each changes, which record it replays, what it rules out.

An arm is a set of overrides of `Settings`. Its purpose says what a difference from it means. Arms
that `need` another replay that arm's recorded routing, of the same seed and base model.

Covered: the routed arms, the controls that run with every routed arm, what people do instead, the
two bounds, and further ideas. Not covered: seeds and base models (`experiment.sweep`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unhack.core.errors import UnknownNameError, UsageError
from unhack.training.config.settings import Settings
from unhack.training.config.toml import override


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to train."""

    name: str
    overrides: Mapping[str, str]
    """`table.field` to its value, as text."""
    needs: tuple[str, ...]
    """Arms whose run folder it replays (`gate.replay` or `optimiser.shrink`)."""
    purpose: str


def controls_of(name: str) -> tuple[str, ...]:
    """The arms that run by default beside an arm: none, unless it routes by a direction or labels.

    Those that replay a record replay that of `real`, which therefore comes first for other routed
    arms. Raises UnknownNameError.
    """
    if name not in ARMS:
        raise UnknownNameError("arm", name, valid=ARMS)
    if name not in ROUTED:
        return ()
    return CONTROLS if name == "real" else ("real", *CONTROLS)


def apply_arm(settings: Settings, name: str) -> Settings:
    """Settings with those of an arm on top. Raises UnknownNameError, UsageError where the arm is
    none with these settings."""
    if name not in ARMS:
        raise UnknownNameError("arm", name, valid=ARMS)
    found = override(settings, ARMS[name].overrides)
    if name != "capacity":
        return found
    if found.adapter.kind == "svd":
        raise UsageError("arm capacity has twice the rank; adapter.kind=svd has none to raise")
    return override(found, {"adapter.rank": str(2 * found.adapter.rank)})


def _arms(*arms: Arm) -> dict[str, Arm]:
    return {arm.name: arm for arm in arms}


_COSINE = {"gate.kind": "cosine"}
_REPLAY = {"gate.kind": "replay"}

ARMS: Mapping[str, Arm] = _arms(
    Arm("vanilla", {}, (), "No quarantine trains: what the loophole does to plain training."),
    Arm("real", _COSINE, (), "Cosine with the direction of hack pairs, per rollout, p75 band."),
    Arm(
        "real_token",
        {**_COSINE, "gate.granularity": "token"},
        (),
        "The same per token: routes parts of a completion.",
    ),
    Arm(
        "real_module",
        {**_COSINE, "gate.scope": "module"},
        (),
        "The same with one cosine and one band per module.",
    ),
    Arm(
        "random",
        {**_COSINE, "gate.direction": "random"},
        (),
        "A random (Haar) direction: what the machinery does without a direction that means"
        " anything. Its band is often degenerate, then it routes nothing.",
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
        "decoys",
        {**_COSINE, "world.pairs": "decoy"},
        (),
        "The direction of pairs that differ in a statement like a hack that pays nobody: whether"
        " it is the form that is routed.",
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
        "wrong",
        {**_COSINE, "world.pairs": "wrong"},
        (),
        "The direction of pairs that differ in a wrong program alone, without a hack: whether it is"
        " being wrong that is routed.",
    ),
    Arm(
        "redrawn",
        {**_COSINE, "gate.direction": "redrawn"},
        (),
        "A random direction, drawn again whenever the real one would be extracted.",
    ),
    Arm(
        "placebo_states",
        {
            **_REPLAY,
            "gate.calibration": "ranked",
            "world.pairs": "placebo",
            "gate.per_knob": "true",
        },
        ("real",),
        "The mass of `real`, step by step and knob state by knob state, in the order of a placebo"
        " direction for each state: differs from `real` in the direction alone.",
    ),
    Arm(
        "replay_states",
        {**_REPLAY, "gate.per_knob": "true"},
        ("real",),
        "Shuffled gate whose mass is that of `real` in each knob state.",
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
        "constant",
        {"gate.kind": "constant"},
        (),
        "Half of every gradient to the quarantine: pure splitting.",
    ),
    Arm(
        "absorb",
        {"gate.kind": "absorb", "adapter.kind": "lora_split"},
        (),
        "No gate: two blocks of their own, both train on everything.",
    ),
    Arm(
        "activation",
        {"gate.kind": "activation"},
        (),
        "Routes by activations instead of gradients; does not know the advantage.",
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
        "detector_20",
        {"gate.kind": "detector", "world.detector_recall": "0.2"},
        (),
        "The same with a detector that sees a fifth of the known hacks.",
    ),
    Arm(
        "oracle_penalty",
        {"baseline.kind": "oracle_penalty"},
        (),
        "Takes reward off every true hack. An upper bound of penalties.",
    ),
    Arm(
        "detector_penalty",
        {"baseline.kind": "detector_penalty"},
        (),
        "Takes reward off what the weak detector labels.",
    ),
    Arm("screening", {"baseline.kind": "screening"}, (), "Leaves detected rollouts out."),
    Arm(
        "advantage",
        {"baseline.kind": "advantage", "baseline.strength": "2.0"},
        (),
        "Inverts the advantage of detected rollouts (after Wu and Tang, arXiv 2604.01476).",
    ),
    Arm(
        "kl_stop",
        {"baseline.kind": "kl_stop", "objective.kl_beta": "0.001", "baseline.strength": "2.0"},
        (),
        "A KL penalty, and an end of training at a KL of 2 nats per completion.",
    ),
    Arm(
        "inoculation",
        {"world.inoculation": "true"},
        (),
        "Training prompts ask for the hack; evaluation prompts do not.",
    ),
    Arm(
        "audit_pairs",
        {**_COSINE, "world.pairs": "audit"},
        (),
        "Pairs that `unhack audit --pairs` found instead of hand-written ones.",
    ),
    Arm(
        "hard_pairs",
        {**_COSINE, "world.pairs": "hard"},
        (),
        "Pairs in surface forms that never occur in rollouts.",
    ),
    Arm(
        "split_blocks",
        {**_COSINE, "adapter.kind": "lora_split"},
        (),
        "Blocks in different places, so that routing cannot be the splitting of one update.",
    ),
    Arm(
        "floored",
        {**_COSINE, "gate.calibration": "floored"},
        (),
        "A band that begins at 0 at the least: what is not along the direction is never routed.",
    ),
    Arm(
        "knobs",
        {**_COSINE, "gate.per_knob": "true"},
        (),
        "A direction and a band for each knob state: that of one says little of the other.",
    ),
    Arm(
        "left_out",
        {**_COSINE, "gate.calibration": "left_out"},
        (),
        "A band of what pairs of a mode score with the direction of the other modes: made for"
        " hacks that no pair shows.",
    ),
    Arm(
        "knobs_left_out",
        {**_COSINE, "gate.per_knob": "true", "gate.calibration": "left_out"},
        (),
        "Both.",
    ),
    Arm(
        "quantile",
        {**_COSINE, "gate.calibration": "quantile", "gate.constant": "0.25"},
        (),
        "Routes the top quarter of live cosines of every step: never degenerate, never starved.",
    ),
    Arm(
        "rewarded",
        {**_COSINE, "gate.rewarded": "true"},
        (),
        "Never routes a rollout with a negative advantage: punished clean ones point along a hack"
        " as well.",
    ),
    Arm(
        "online",
        {**_COSINE, "gate.calibration": "online"},
        (),
        "A band that follows the live cosines of rollouts with the weak detector's label.",
    ),
    Arm(
        "shared_moments",
        {**_COSINE, "optimiser.shared_moments": "true"},
        (),
        "Both blocks are scaled by the unrouted gradient: a small leak stays small.",
    ),
    Arm(
        "always_on",
        {**_COSINE, "rollouts.off_share": "0"},
        (),
        "The original setting: the quarantine is on in every rollout, the blocks co-adapt.",
    ),
    Arm(
        "off_75",
        {**_COSINE, "rollouts.off_share": "0.75"},
        (),
        "Three quarters of the prompts run with the quarantine off.",
    ),
    Arm(
        "per_knob",
        {**_COSINE, "objective.per_knob": "true"},
        (),
        "Advantages relative to the kept mass of each knob state.",
    ),
)
"""Every arm by its name."""

CONTROLS = (
    "vanilla", "random", "random_ranked", "replay", "placebo", "placebo_ranked", "shrink",
    "capacity", "ceiling",
)  # fmt: skip
"""Controls that run beside every routed arm."""

CLOSER = ("filter", "wrong", "decoys", "redrawn", "placebo_states", "replay_states")
"""Controls that a claim about the direction or about the quarantine needs beside those."""

BASELINES = (
    "oracle_penalty", "detector_penalty", "screening", "advantage", "kl_stop", "inoculation",
)  # fmt: skip
"""Remedies other than routing."""

IDEAS = (
    "audit_pairs", "hard_pairs", "split_blocks", "floored", "knobs", "left_out", "knobs_left_out",
    "quantile", "rewarded", "online", "shared_moments", "always_on", "off_75", "per_knob",
    "detector_20",
)  # fmt: skip
"""Further ways to route."""

ROUTED = (
    "real", "real_token", "real_module", "activation", "detector", "oracle", "absorb", *IDEAS,
)  # fmt: skip
"""Arms whose quarantine is trained on purpose."""
