"""A training session: its parts, and how it begins, goes on, saves and ends.

Covered: a new run, a run that was killed (it goes on from its newest checkpoint), one that ended
(nothing is done again); several ranks, of which the leader writes. Not covered: the steps
(`train`).
"""

from __future__ import annotations

import contextlib
import platform
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from unhack.core.errors import UsageError
from unhack.training.adapters.attached import AttachedAdapters
from unhack.training.config.settings import ObjectiveSettings, Settings
from unhack.training.evaluation.evaluate import both_states
from unhack.training.loop.distributed import Ranks
from unhack.training.loop.optimiser import Optimiser
from unhack.training.loop.sampling import RolloutSource
from unhack.training.loop.step_summary import Done, rollouts_line
from unhack.training.objectives import PassHistory
from unhack.training.objectives.critic import Critic, make_critic
from unhack.training.policy.policy import ModelPolicy, load_policy
from unhack.training.routing.gate import Gate
from unhack.training.routing.gates.registry import make_gate
from unhack.training.routing.split import need_record
from unhack.training.run import checkpoint, step_record
from unhack.training.run.alarms import Watchdog
from unhack.training.run.folder import (
    ALARMS,
    GATE,
    METRICS,
    MONITOR,
    ROLLOUTS,
    TrainingRecords,
    read_lines,
    status,
)
from unhack.training.run.loggers import Logger, Silent, make_logger, scalars
from unhack.training.run.step_record import StepRecord
from unhack.training.worlds.registry import make_world
from unhack.training.worlds.world import World


@dataclass(slots=True)
class TrainingSession:
    """A run in progress."""

    source: RolloutSource
    gate: Gate
    optimiser: Optimiser
    watchdog: Watchdog
    folder: Path
    files: TrainingRecords | None
    """None in ranks that do not write."""
    logger: Logger = field(default_factory=Silent)
    step: int = 0
    """Completed updates."""
    stopped: str = ""
    """Reason to end before the last step; empty while it goes on."""

    @property
    def adapters(self) -> AttachedAdapters:
        """The policy's `Adapters`."""
        return self.source.policy.adapters

    def monitor(self, step: int) -> dict[str, Any] | None:
        """Evaluate both knob states where it is time; None where it is not."""
        every = self.source.settings.run.monitor_every
        if self.files is None or not every or step % every:
            return None
        world = self.source.world
        deployed, as_trained = both_states(self.source.policy, world, world.monitor())
        found = {"deployed": deployed.record(), "as_trained": as_trained.record()}
        for state, record in found.items():
            self.files.append(MONITOR, {"step": step, "state": state, **record})
        return found

    def complete_step(
        self, record: StepRecord, gate: Mapping[str, Any], *, rollouts: Done
    ) -> StepRecord:
        """Write a step and its alarms down, its rollouts where settings ask for them; decide
        whether the run ends; save where it is time. The record with its alarms."""
        settings = self.source.settings
        self.step = record.step + 1
        alarms = self.watchdog.observe(record)
        names = tuple(alarm.name for alarm in alarms)
        record = replace(record, leak=self.watchdog.leak.score, alarms=names)
        if alarms and settings.run.stop_on_alarm:
            self.stopped = f"alarm: {', '.join(record.alarms)}"
        if self.files is not None:
            self.files.append(METRICS, record.record())
            self.files.append(GATE, gate)
            if settings.run.keep_rollouts:
                line = rollouts_line(self.source.world, rollouts, step=record.step)
                self.files.append(ROLLOUTS, line)
            for alarm in alarms:
                self.files.append(ALARMS, alarm.record())
            self.logger.log(scalars(record), step=record.step)
        if self._due():
            self._compare(self.adapters.state())
            self.save()
        return record

    def check_alike(self) -> None:
        """Check that all weights are the same in every rank. Raises RanksDifferError."""
        self._compare(self.source.policy.model.state_dict())

    def _compare(self, state: Mapping[str, Any]) -> None:
        if self.source.ranks.count > 1:
            self.source.ranks.check_equal([state[name] for name in sorted(state)])

    def save(self) -> None:
        """Write a checkpoint of the completed updates."""
        if self.files is None:
            return
        state: dict[str, Any] = {
            "optimiser": self.optimiser.state(),
            "gate": self.gate.state(),
            "critic": self.source.critic.state() if self.source.critic is not None else {},
            "history": self.source.history.state() if self.source.history is not None else {},
            "stopped": self.stopped,
        }
        saved = checkpoint.Saved(self.step, self.adapters.state(), state, self.files.lengths())
        checkpoint.save(self.folder, saved)

    def _due(self) -> bool:
        settings = self.source.settings.run
        return bool(
            self.step % settings.checkpoint_every == 0
            or self.step == settings.steps
            or self.stopped
        )

    def end(self) -> None:
        """Say in `run.json` how the run ended."""
        if self.files is not None:
            ended = "stopped" if self.stopped else "finished"
            self.files.describe(status=ended, reason=self.stopped, steps=self.step)


@contextlib.contextmanager
def open_session(settings: Settings, folder: Path, ranks: Ranks) -> Generator[TrainingSession]:
    """Open a run: a new one, or one that goes on. Raises UsageError, StoreError."""
    if ranks.count > settings.rollouts.prompts:
        raise UsageError(
            f"{ranks.count} processes share {settings.rollouts.prompts} prompts of a step: start "
            "fewer, or set rollouts.prompts higher"
        )
    with contextlib.ExitStack() as stack:
        files = stack.enter_context(TrainingRecords(folder, settings)) if ranks.leads else None
        ranks.barrier()
        for record in filter(None, (settings.gate.replay, settings.optimiser.shrink)):
            need_record(record, steps=settings.run.steps)
        device = settings.model.model_copy(update={"device": ranks.device})
        here = settings.model_copy(update={"model": device})
        world = make_world(settings, folder=folder)
        policy = _load_policy(here, world, ranks)
        critic = _critic(settings, policy)
        source = RolloutSource(settings, world, policy, ranks, critic, _history(settings.objective))
        run = TrainingSession(
            source=source,
            gate=make_gate(settings, policy, world),
            optimiser=Optimiser(settings.optimiser, policy.adapters),
            watchdog=Watchdog(prompts=settings.rollouts.prompts),
            folder=folder,
            files=files,
        )
        _resume(run)
        run.check_alike()
        if files is not None:
            run.logger = make_logger(settings, folder)
            stack.callback(run.logger.close)
            files.describe(status="running", reason="", **_facts(run))
        yield run


def has_ended(folder: Path, settings: Settings) -> bool:
    """Tell whether there is nothing left to do."""
    found = status(folder)
    if found == "stopped":
        return True
    return found == "finished" and settings.run.steps in checkpoint.checkpoint_steps(folder)[-1:]


def _load_policy(settings: Settings, world: World, ranks: Ranks) -> ModelPolicy:
    """The policy; the leader first, so that a base model is made once."""
    policy = load_policy(settings, world) if ranks.leads else None
    ranks.barrier()
    return policy if policy is not None else load_policy(settings, world)


def _critic(settings: Settings, policy: ModelPolicy) -> Critic | None:
    """A value head over the policy's hidden states, where advantages need one."""
    if settings.objective.advantage != "gae":
        return None
    weight = policy.model.get_parameter("lm_head.weight")
    return make_critic(
        weight.shape[1], settings=settings.objective, seed=settings.run.seed, device=policy.device
    )


def _history(settings: ObjectiveSettings) -> PassHistory | None:
    """History of passes, where prompts that nearly always pass are retired."""
    share = settings.retire_share
    return PassHistory(threshold=share) if share else None


def _resume(run: TrainingSession) -> None:
    """Go back to the newest checkpoint, with the logs as they were; write one of a new run.

    Every rank reads before the leader writes, so that all see the same.
    """
    ranks = run.source.ranks
    saved = checkpoint.newest(run.folder)
    ranks.barrier()
    if run.files is not None:
        run.files.truncate(saved.lengths if saved is not None else {})
        if saved is None:
            run.save()
    ranks.barrier()
    if saved is None:
        return
    run.adapters.load(saved.adapters)
    run.optimiser.load(saved.state["optimiser"])
    run.gate.load(saved.state["gate"])
    if run.source.critic is not None:
        run.source.critic.load(saved.state["critic"])
    if run.source.history is not None:
        run.source.history.load(saved.state["history"])
    run.step, run.stopped = saved.step, saved.state["stopped"]
    steps = run.source.settings.run.steps
    for line in read_lines(run.folder / METRICS):
        run.watchdog.observe(step_record.read_record(line, steps=steps))


def _facts(run: TrainingSession) -> dict[str, Any]:
    """Versions and sizes."""
    blocks = {
        block: sum(
            item.numel() for items in run.adapters.parameters(block).values() for item in items
        )
        for block in ("deployed", "quarantine")
    }
    model = run.source.policy.model
    return {
        "unhack": metadata.version("unhack"),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "device": str(run.source.policy.device),
        "ranks": run.source.ranks.count,
        "world": run.source.world.name,
        "parameters": {"model": sum(item.numel() for item in model.parameters()), **blocks},
        "began": time.time(),
    }
