"""The settings of a run, as `config.toml` has them: one table per room.

`--set gate.kind=random` overrides one field; an arm of an experiment is a set of such overrides
(`unhack.training.experiment.arms`). Unknown names are errors that name the nearest one.
"""

from __future__ import annotations

from typing import Any, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from unhack.training.config import recipes


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WorldSettings(_Table):
    """The world, and the loopholes of it that are known.

    Example:

        WorldSettings(name="rewards.py:score", path="rows.jsonl", completion_tokens=512)
    """

    name: str = "programs"
    """`programs`, `leetcode`, `pretrained`, or a target: a task, a suite, a folder,
    `module:function`, `file.py:function` (see `worlds.tasks.targets`)."""
    path: str = ""
    """Folder of the LeetCode-style JSONL files (world `leetcode`); JSONL of the rows of a reward
    function, empty for those beside it."""
    tokenizer: str = ""
    """Folder of the Hugging Face tokenizer; empty: that of `model.path`, bytes without one (not of
    world `programs`)."""
    prompts: Literal["chat", "plain"] = "chat"
    """Prompts of tasks through the tokenizer's chat template where it has one, or as they are."""
    prompt_tokens: int = Field(default=1536, ge=1)
    """Longest prompt (not of world `programs`); a longer one is an error, never left out."""
    completion_tokens: int = Field(default=1024, ge=1)
    """Longest completion, the stop token included (not of world `programs`)."""
    detector: str = ""
    """Weak detector of a world of tasks: `module:function`, called like a reward function and as
    sealed; above 0 a rollout is labelled. Empty: no labels."""
    modes: tuple[str, ...] = ("run_tests", "sentinel", "stdout_marker", "file_marker")
    known: tuple[str, ...] = ("run_tests", "sentinel")
    pairs: Literal["real", "hard", "placebo", "decoy", "wrong", "audit"] = "real"
    pairs_path: str = ""
    """File of `unhack audit --pairs` (pairs `audit`)."""
    pairs_per_mode: int = Field(default=16, ge=1)
    loophole_share: float = Field(default=1.0, ge=0, le=1)
    """Share of training prompts that have a loophole; the rest are `gt_only`."""
    hint_share: float = Field(default=1.0, ge=0, le=1)
    """Share of the prompts with a loophole that tell it (world `pretrained`)."""
    held_out_from: int = Field(default=0, ge=0)
    """First step that draws modes which are not known; before it prompts are of known modes alone
    (not of worlds of tasks)."""
    detector_recall: float = Field(default=1.0, ge=0, le=1)
    detector_false_positives: float = Field(default=0.0, ge=0, le=1)
    cache: str = ""
    """SQLite file of verdicts by problem and completion, shared by runs; empty: the run's own."""


class ModelSettings(_Table):
    """The base model.

    Example:

        ModelSettings(path="models/my-llama", device="cuda", precision="bfloat16")
    """

    size: Literal["nano", "small", "medium", "large", "huge"] = "nano"
    """nano about 0.1M, small 1M, medium 10M, large at least 50M, huge at least 300M parameters;
    made by `unhack train base`, cached."""
    path: str = ""
    """A Hugging Face causal LM in a folder, instead of `size`."""
    base_seed: int = 0
    """Seed of the base model's pretraining, or warm-up: several base models."""
    warmup_steps: int = Field(default=0, ge=0)
    """Supervised steps of the model of `path` before any other training (world `pretrained`)."""
    warmup_hacks: float = Field(default=0.1, ge=0, le=1)
    """Share of hacks among the completions that a warm-up shows on prompts with a loophole."""
    device: str = "cpu"
    precision: Literal["float32", "bfloat16"] = "float32"


class AdapterSettings(_Table):
    """The adapter: kind and size of what is trained.

    Example:

        AdapterSettings(kind="lora_split", rank=32, targets=("q_proj", "v_proj"))
    """

    kind: Literal["svd", "lora_frozen_b", "lora_split"] = "lora_frozen_b"
    rank: int = Field(default=16, ge=1)
    """Per block; ignored by `svd`."""
    targets: tuple[str, ...] = (
        "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj",
    )  # fmt: skip
    """Names of linear maps. A model of `model.path` that has others gets adapters in all but its
    output embedding, unless this is set."""


class ObjectiveSettings(_Table):
    """loss = advantage x policy term x aggregation x KL x filters (`objectives`).

    Example:

        ObjectiveSettings(recipe="dapo", kl_beta=0.01)
    """

    recipe: str = ""
    """A published objective (`grpo`, `dapo`, ...; see `config.recipes`). It sets every field
    that is not given beside it, and is then empty again: what is stored are the fields."""
    advantage: Literal["grpo", "dr_grpo", "rloo", "maxrl", "batch_std", "gae"] = "dr_grpo"
    policy: Literal["clip", "reinforce", "gspo", "cispo", "dppo_tv", "dppo_kl", "real"] = "clip"
    aggregation: Literal[
        "sequence_mean", "sequence_sum", "token_mean", "constant", "prompt_mean"
    ] = "constant"  # fmt: skip
    clip_low: float = Field(default=0.2, ge=0)
    """Distance of the lower bound of the ratio from 1; for `dppo_*` the threshold of divergence."""
    clip_high: float = Field(default=0.2, ge=0)
    dual_clip: float = Field(default=0.0, ge=0)
    """`clip`: largest ratio that a negative advantage feels, above 1; 0: none."""
    ratio_cap: float = Field(default=0.0, ge=0)
    """`dppo_*`: largest weight of a token; 0: none."""
    real_temperature: float = Field(default=0.5, gt=0)
    kl: Literal["k1", "k2", "k3"] = "k3"
    kl_beta: float = Field(default=0.0, ge=0)
    kl_in_reward: bool = False
    """Taken off the reward instead of added to the loss."""
    kl_weighted: bool = False
    """In the loss, times the ratio to the rollout policy: an exact gradient for k1 and k3."""
    overlong_share: float = Field(default=0.0, ge=0, le=1)
    """Last share of the longest completion over which the reward falls by up to 1; 0: none."""
    zero_variance: Literal["keep", "drop", "refill"] = "drop"
    retire_share: float = Field(default=0.0, ge=0, le=1)
    """No-positive-resampling: a prompt that earned the reward in at least this share of its
    rollouts so far is not drawn again; 0: none."""
    per_knob: bool = False
    """Advantages relative to the rollouts of the same knob state (always so within a prompt: a
    prompt has one knob state) with the kept mass as weights of the mean. With a gate it takes no
    critic, no `real` and no KL in the loss."""
    updates_per_batch: int = Field(default=1, ge=1)
    discount: float = Field(default=1.0, ge=0, le=1)
    """`gae`: gamma."""
    gae_lambda: float = Field(default=1.0, ge=0, le=1)
    value_clip: float = Field(default=0.5, gt=0)
    """`gae`: how far a value may move from its old one, over the updates of one batch, before its
    loss stops falling."""

    @model_validator(mode="before")
    @classmethod
    def _fill_in_recipe(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not data.get("recipe"):  # pyright: ignore[reportUnknownMemberType]
            return data  # pyright: ignore[reportUnknownVariableType]
        return recipes.resolve_recipe(cast("dict[str, Any]", data))

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.kl == "k1" and self.kl_beta and not (self.kl_in_reward or self.kl_weighted):
            raise ValueError("k1 in the loss needs kl_weighted: its gradient is 0 on average")
        if self.kl == "k2" and self.kl_weighted:
            raise ValueError("k2 has the right gradient without kl_weighted")
        if 0 < self.dual_clip <= 1:
            raise ValueError("dual_clip lies above 1, or is 0 for none")
        if self.policy == "real" and self.advantage == "gae":
            raise ValueError("real compares the rollouts of a group: it takes no critic")
        return self


class RolloutSettings(_Table):
    """Size and temperature of a step's batch.

    Example:

        RolloutSettings(prompts=8, group=16, temperature=0.8)
    """

    prompts: int = Field(default=16, ge=1)
    group: int = Field(default=16, ge=2)
    temperature: float = Field(default=1.0, gt=0)
    off_share: float = Field(default=0.5, ge=0, le=1)
    """Share of prompts sampled and trained with the quarantine off (0: the original setting)."""


class GateSettings(_Table):
    """The gate: the share of each gradient that goes to the quarantine.

    Example:

        GateSettings(kind="cosine", constant=0.3, refresh=2)
    """

    kind: Literal["none", "cosine", "detector", "oracle", "replay"] = "none"
    """`none`: no quarantine trains. `replay`: fractions of a recorded run, shuffled per step
    unless `calibration` is `ranked`."""
    action: Literal["route", "drop", "reverse"] = "route"
    """`route`: the share goes to the quarantine. `drop`: it goes nowhere, and no quarantine ever
    acts. `reverse`: the same, and the deployed block learns it with the opposite sign."""
    direction: Literal["pairs", "random", "redrawn"] = "pairs"
    """`random`: drawn once. `redrawn`: drawn again at every refresh."""
    calibration: Literal["quantile", "ranked"] = "quantile"
    """`quantile`: the top `constant` share of live scores is routed. `ranked` (with `replay`): the
    recorded fractions go to the largest cosines with the direction instead of to random
    rollouts."""
    granularity: Literal["rollout", "token"] = "rollout"
    """The unit that is scored and routed as a whole (`token`: calibration `quantile` alone)."""
    per_knob: bool = False
    """Kinds `cosine` and `replay`: a direction, a share and a recorded mass of its own for each
    knob state."""
    rewarded: bool = False
    """Route rollouts with a positive advantage only; shares are of those, records are dealt to
    those."""
    constant: float = Field(default=0.5, ge=0, le=1)
    """The share of `quantile`."""
    refresh: int = Field(default=5, ge=0)
    """Steps between extractions of the direction; 0: once."""
    replay: str = ""
    """Run folder whose `gate.jsonl` is replayed."""


class OptimiserSettings(_Table):
    """One AdamW over both blocks.

    Example:

        OptimiserSettings(rate=1e-4, warmup=20, cooldown=(800, 1000))
    """

    rate: float = Field(default=3e-3, gt=0)
    betas: tuple[float, float] = (0.9, 0.99)
    clip: float = Field(default=1.0, gt=0)
    """Largest norm of the gradient over both blocks; `inf`: no clipping."""
    warmup: int = Field(default=0, ge=0)
    """Updates over which the rate rises in a line. Adam's first steps are of full size, whatever
    the gradients; without a rise a single one can end a small policy."""
    cooldown: tuple[int, int] = (0, 0)
    """Updates from which and at which the rate falls to zero, in a line; (0, 0): it never falls.
    Independent of `run.steps`, so that a longer run goes on from a shorter one."""
    shared_moments: bool = False
    """Both blocks use the second moment of the unrouted gradient."""
    shrink: str = ""
    """Run folder whose kept share scales the deployed update, step by step (matched shrinkage)."""

    @model_validator(mode="after")
    def _falling(self) -> Self:
        begin, end = self.cooldown
        if self.cooldown != (0, 0) and not 0 <= begin < end:
            raise ValueError("cooldown is (first, last) with 0 <= first < last, or (0, 0) for none")
        return self


class BaselineSettings(_Table):
    """The baseline: a remedy against reward hacking other than routing.

    Example:

        Settings(baseline=BaselineSettings(kind="detector_penalty"))
    """

    kind: Literal["none", "detector_penalty"] = "none"
    """`detector_penalty`: a reward of 3 is taken off what the weak detector labels."""


class RunSettings(_Table):
    """Length of a run, and what it writes.

    Example:

        RunSettings(steps=100, seed=3, logger="tensorboard")
    """

    steps: int = Field(default=300, ge=1)
    seed: int = 0
    checkpoint_every: int = Field(default=10, ge=1)
    monitor_every: int = Field(default=10, ge=0)
    """Steps between monitor evaluations during training; 0: none (`eval-curve` makes them)."""
    stop_on_alarm: bool = False
    """End at the first alarm. One of them compares with the oracle's solve rate, so this option
    lets the oracle decide how long is trained."""
    micro_batch: int = Field(default=0, ge=0)
    """Rollouts of one backward pass, in whole groups; 0: all at once."""
    keep_rollouts: bool = False
    """Write `rollouts.jsonl`: what was sampled, its rewards, labels and scores, step by step."""
    logger: Literal["none", "tensorboard", "trackio", "wandb"] = "none"


class Settings(_Table):
    """A whole run.

    Example:

        settings = Settings(world=WorldSettings(name="strings"), run=RunSettings(steps=100))
        train(settings, Path("out/strings"))
    """

    world: WorldSettings = WorldSettings()
    model: ModelSettings = ModelSettings()
    adapter: AdapterSettings = AdapterSettings()
    objective: ObjectiveSettings = ObjectiveSettings()
    rollouts: RolloutSettings = RolloutSettings()
    gate: GateSettings = GateSettings()
    optimiser: OptimiserSettings = OptimiserSettings()
    baseline: BaselineSettings = BaselineSettings()
    run: RunSettings = RunSettings()

    @model_validator(mode="after")
    def _scalable(self) -> Self:
        """`per_knob` scales gradients by a change of advantage: they have to be linear in it."""
        chosen = self.objective
        if not chosen.per_knob or self.gate.kind == "none":
            return self
        others = {
            "advantage=gae": chosen.advantage == "gae",
            "policy=real": chosen.policy == "real",
            "kl_beta in the loss": bool(chosen.kl_beta) and not chosen.kl_in_reward,
        }
        for name, present in others.items():
            if present:
                raise ValueError(
                    f"objective.per_knob needs gradients in proportion to the advantage, which "
                    f"{name} breaks; leave one of them out"
                )
        return self
