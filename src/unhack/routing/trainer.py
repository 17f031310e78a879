"""A TRL trainer whose updates are routed.

    trainer = routed(GRPOTrainer)(model, ..., quarantine=quarantine, gate=hack_gate(pairs))

TRL's own loss is computed by TRL. Around it: each prompt gets a knob state, its rollouts are
sampled and scored in it, the backward passes of an update are recorded, and at its end the gate
sets the gradients of both blocks (`Router`). Evaluation runs as deployed, with the quarantine off.

Covered: TRL 1.16's GRPOTrainer and RLOOTrainer, generation by transformers, gradient accumulation
and checkpointing, bfloat16, several processes (the model is not wrapped, gradients are averaged
here), references of PEFT models, checkpoints. vLLM: `vllm`. Not covered, and refused: DeepSpeed and
FSDP, tools and environments, custom rollout functions, continuous batching, adapters that the
trainer would make.

Axes: B rollouts of this process.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from importlib import metadata
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.routing import vllm
from unhack.routing.gate import HackGate
from unhack.routing.quarantine import Quarantine
from unhack.routing.router import Router
from unhack.training.routing.gates.rewarded import differs
from unhack.training.routing.split import RoutingLog
from unhack.training.run import checkpoint

FOLDER = "routing"
"""Folder of a checkpoint that holds the blocks and the gate."""
_HOOKS = {
    "_generate_and_score_completions": ("inputs",),
    "_generate_single_turn": ("prompt_ids",),
    "_calculate_rewards": ("inputs", "prompts"),
    "_compute_loss": ("model", "inputs"),
    "_get_per_token_logps_and_entropies": ("model",),
    "training_step": ("model", "inputs"),
    "_save_checkpoint": ("model", "trial"),
    "save_model": ("output_dir", "_internal_call"),
    "_load_optimizer_and_scheduler": ("checkpoint",),
}
"""Methods that are overridden, and their first arguments."""


_Trainer: Any = object
"""Stands for the trainer that the mixin is put in front of."""


def routed(trainer: type[Any]) -> Any:
    """A subclass of a TRL trainer that takes `quarantine`, `gate` and `vllm_loras` as well.

    `vllm_loras`: folder that trainer and vLLM server both see, by which LoRAs go to the server;
    without it merged weights are pushed. Raises UsageError for a class that lacks what TRL 1.16's
    GRPOTrainer has.
    """
    strange = [name for name, first in _HOOKS.items() if _first(trainer, name, first) != first]
    if strange:
        raise UsageError(
            f"{trainer.__name__} (trl {_version()}) lacks {', '.join(strange)}, or takes other "
            "arguments there: routing knows GRPOTrainer and RLOOTrainer of trl 1.16; "
            "pip install 'trl==1.16.0'"
        )
    return type(f"Routed{trainer.__name__}", (RoutedMixin, trainer), {})


class RoutedMixin(_Trainer):
    """The overridden parts of a trainer; see the module."""

    def __init__(
        self,
        *args: Any,
        quarantine: Quarantine,
        gate: HackGate,
        vllm_loras: str | Path | None = None,
        **named: Any,
    ) -> None:
        _refuse_arguments(named)
        model = named["model"] if "model" in named else (args or [None])[0]
        if model is not quarantine.model:
            raise UsageError("give the trainer the model that `attach` got, as it is")
        self.quarantine, self.vllm_loras = quarantine, vllm_loras
        self._knob_B: Tensor | None = None
        self._recording = contextlib.ExitStack()
        self._prompts, self._checkpointing = 0, False
        self._differs_B: Tensor | None = None
        self._trl.__init__(*args, **named)
        _refuse_settings(self)
        for item in self.model.parameters():
            item.requires_grad_(False)
        for item in quarantine.parameters():
            item.data = item.data.float() if item.dtype.itemsize < 4 else item.data
            item.requires_grad_(True)
        self.router = Router(quarantine, gate, tokenizer=self.processing_class)
        if gate.recentre:
            _refuse_recentring(self)
        # Gradients are set by hand: a data-parallel wrapper would wait for those of autograd.
        prepare = self.accelerator.prepare_model
        self.accelerator.prepare_model = functools.partial(prepare, evaluation_mode=True)

    @property
    def _trl(self) -> Any:
        """The trainer's own methods."""
        return super()

    def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
        """Give each prompt a knob state, and hand it on with its rollouts."""
        knob_B, group_B = self._dealt(len(inputs))
        self._knob_B, self._differs_B = knob_B, None
        try:
            found = self._trl._generate_and_score_completions(inputs)
        finally:
            self._knob_B = None
        signal = found["advantages"]
        signal = signal if self._differs_B is None else signal * self._differs_B
        return {**found, "quarantine": knob_B, "group": group_B, "signal": signal}

    def _calculate_rewards(self, inputs: Any, prompts: Any, *rest: Any, **named: Any) -> Any:
        """TRL's rewards of all processes [B, functions]; with them is decided who is rewarded."""
        rewards_B_F: Tensor = self._trl._calculate_rewards(inputs, prompts, *rest, **named)
        if self.model.training:
            first = self.accelerator.process_index * len(prompts)
            _refuse_infinite(self, rewards_B_F, {first + at: p for at, p in enumerate(prompts)})
            self._differs_B = _differ(self, rewards_B_F, slice(first, first + len(prompts)))
        return rewards_B_F

    def _generate_single_turn(self, prompt_ids: Any, *rest: Any, **named: Any) -> Any:
        """Sample each rollout in its knob state."""
        assert self._knob_B is not None
        generate = self._trl._generate_single_turn
        if getattr(self, "use_vllm", False):
            return vllm.generate(self, generate, prompt_ids, self._knob_B, (rest, named))
        with self.quarantine.sampling(self._knob_B):
            return generate(prompt_ids, *rest, **named)

    def _get_per_token_logps_and_entropies(self, model: Any, *rest: Any, **named: Any) -> Any:
        """Score rollouts in their knob states, a PEFT model's reference without the blocks."""
        score = self._trl._get_per_token_logps_and_entropies
        if self._knob_B is None or model is not self.quarantine.model:
            return score(model, *rest, **named)
        if _is_reference(model):
            with self.quarantine.base():
                return score(model, *rest, **named)
        with self.quarantine.rows(self._knob_B):
            return score(model, *rest, **named)

    def _compute_loss(self, model: Any, inputs: Any) -> Any:
        """TRL's loss, recorded in training."""
        if not self.model.training:
            with self.quarantine.knob(False):
                return self._trl._compute_loss(model, inputs)
        recorded = self.router.record(
            inputs["signal"], inputs["quarantine"], group_B=inputs["group"]
        )
        self._recording.enter_context(recorded)
        return self._trl._compute_loss(model, inputs)

    def training_step(self, *args: Any, **named: Any) -> Any:
        """One backward pass; the last of an update is followed by the gate."""
        with contextlib.ExitStack() as self._recording:
            loss: Any = self._trl.training_step(*args, **named)
        if self.accelerator.sync_gradients:
            log = self.router.route(step=int(self.state.global_step))
            for name, value in _figures(log).items():
                self._metrics["train"][f"routing/{name}"].append(value)
        return loss

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """TRL's checkpoint, and beside it the blocks and the gate."""
        self._checkpointing = True
        try:
            self._trl._save_checkpoint(model, trial)
        finally:
            self._checkpointing = False
        if self.args.should_save:
            name = f"checkpoint-{self.state.global_step}"
            folder = Path(self._get_output_dir(trial=trial), name, FOLDER)
            folder.mkdir(parents=True, exist_ok=True)
            step, state = int(self.state.global_step), self.router.state()
            checkpoint.save(folder, checkpoint.Saved(step, self.quarantine.state(), state, {}))

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """Write the model as it is deployed, as `Quarantine.save` does, and its tokenizer.

        In a checkpoint, beside which the blocks lie, TRL's own. Raises UsageError.
        """
        if self._checkpointing:
            self._trl.save_model(output_dir, _internal_call)
            return
        folder = output_dir or self.args.output_dir
        if self.args.should_save:
            self.quarantine.save(folder)
            self.processing_class.save_pretrained(folder)
        if self.args.push_to_hub and not _internal_call:
            self.push_to_hub(commit_message="Model save", revision=self.args.hub_revision)

    def _load_optimizer_and_scheduler(self, checkpoint_folder: Any) -> None:
        """TRL's, and the blocks and the gate. Raises UsageError for a checkpoint without them."""
        self._trl._load_optimizer_and_scheduler(checkpoint_folder)
        if checkpoint_folder is None:
            return
        saved = checkpoint.newest(Path(checkpoint_folder, FOLDER))
        if saved is None:
            raise UsageError(f"{checkpoint_folder}: no {FOLDER}/ in it: it was not trained routed")
        self.quarantine.load(saved.adapters)
        self.router.load(saved.state)

    def _dealt(self, count: int) -> tuple[Tensor, Tensor]:
        """Knob states and prompt numbers of this process's rollouts of a generation batch.

        Numbers go on from batch to batch: an update may take rollouts of several.
        """
        device, processes = self.accelerator.device, self.accelerator.num_processes
        first = self.accelerator.process_index * count
        if not self.model.training:
            zeros = torch.zeros(count, dtype=torch.long, device=device)
            return zeros.bool(), zeros
        group = self.num_generations
        own = slice(first, first + count)
        prompts = count * processes // group
        knobs = self.router.deal(prompts, group=group)
        numbers = self._prompts + torch.arange(count * processes, device=device) // group
        self._prompts += prompts
        return knobs.to(device)[own], numbers[own]


def _first(trainer: type[Any], name: str, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a method's first arguments after self; empty where there is no such method.

    A class of the user's own may wrap TRL's method as it likes: TRL's is looked at.
    """
    owners = [item for item in trainer.__mro__ if name in vars(item)]
    theirs = [item for item in owners if item.__module__.startswith(("trl.", "transformers."))]
    if not owners:
        return ()
    names = list(inspect.signature(vars((theirs or owners)[0])[name]).parameters)
    return tuple(names[1 : 1 + len(wanted)])


def _version() -> str:
    try:
        return metadata.version("trl")
    except metadata.PackageNotFoundError:
        return "not installed"


def _refuse_arguments(named: dict[str, Any]) -> None:
    """Raises UsageError for arguments that routing cannot serve."""
    if named.get("peft_config") is not None:
        raise UsageError("wrap the model with PEFT first (get_peft_model), then attach to it")
    for name in ("tools", "environment_factory", "rollout_func"):
        if named.get(name):
            raise UsageError(
                f"{name} samples in turns of its own, which have no knob state yet: leave it out"
            )


def _refuse_settings(trainer: Any) -> None:
    """Raises UsageError for ways to train that routing does not know."""
    if trainer.is_deepspeed_enabled or trainer.is_fsdp_enabled:
        raise UsageError("DeepSpeed and FSDP shard the blocks: train with plain processes")
    if getattr(trainer, "use_transformers_continuous_batching", False):
        raise UsageError("continuous batching mixes rollouts of both knob states: turn it off")
    if getattr(trainer, "use_vllm", False):
        vllm.check(trainer, trainer.vllm_generation)
    elif trainer.vllm_loras is not None:
        raise UsageError("vllm_loras is for use_vllm=True: leave it out")


def _refuse_recentring(trainer: Any) -> None:
    """Raises UsageError where a gradient has parts that no advantage scales."""
    others = {
        "beta": getattr(trainer, "beta", 0.0),
        "entropy_coef": getattr(trainer.args, "entropy_coef", 0.0),
    }
    for name, value in others.items():
        if value:
            raise UsageError(
                f"{name}={value} adds a gradient that no advantage scales: set it to 0, or give "
                "the gate recentre=False"
            )


def _refuse_infinite(trainer: Any, rewards_B_F: Tensor, prompts: dict[int, Any]) -> None:
    """Raises UsageError for an infinite reward, of which TRL makes advantages of 0 or 3e38. A NaN
    is TRL's word for a rollout without a reward."""
    found: list[list[int]] = cast(Any, rewards_B_F.isinf().nonzero()).tolist()
    if found and not getattr(trainer, "reward_clip_range", None):
        row, column = found[0]
        asked = f": {str(prompts[row])[:80]!r}" if row in prompts else " of another process"
        raise UsageError(
            f"{trainer.reward_func_names[column]} gave rollout {row} the reward "
            f"{float(rewards_B_F[row, column])} (prompt {row // trainer.num_generations}{asked}): "
            "nothing is trained with it; return a finite reward, or None for what has none"
        )


def _differ(trainer: Any, rewards_B_F: Tensor, own: slice) -> Tensor | None:
    """bool: the own rollouts whose reward is not the mean of their prompt's, by the sums that TRL
    makes of its functions; None where it makes no sum of rewards."""
    if (
        getattr(trainer, "multi_objective_aggregation", "sum_then_normalize")
        != "sum_then_normalize"
    ):
        return None
    rewards_B = (rewards_B_F * trainer.reward_weights.to(rewards_B_F)).nansum(1)
    if clip := getattr(trainer, "reward_clip_range", None):
        rewards_B = rewards_B.clamp(*clip)
    rewards_B = rewards_B.masked_fill(rewards_B_F.isnan().all(1), float("nan"))
    group_B = torch.arange(len(rewards_B), device=rewards_B.device) // trainer.num_generations
    return differs(rewards_B, group_B)[own]


def _is_reference(model: Any) -> bool:
    """True while a PEFT model runs without its adapter, or with TRL's copy of it."""
    layers = [item for item in model.modules() if hasattr(item, "base_layer")]
    return any(item.disable_adapters or "ref" in item.active_adapters for item in layers)


def _figures(log: RoutingLog) -> dict[str, float]:
    """Figures of a step's routing for its log."""
    found = {
        "mass": log.mass,
        "energy_kept": log.energy_deployed,
        "energy_quarantine": log.energy_quarantine,
        "pair_accuracy": log.gate.get("pair_accuracy", float("nan")),
    }
    for knob in ("on", "off"):
        cell = log.split.get(f"{knob}.positive", {})
        found[f"routed_share/{knob}"] = cell.get("fraction", float("nan"))
    return found
