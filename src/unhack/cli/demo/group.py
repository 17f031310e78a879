"""The demo's group: one problem, right and wrong solutions and reward hacks, judged in two ways.

Covered: sealed, as the task says; and beside it what a usual one-process harness gives the same
completions. That harness runs inside the sandbox too, for hacks are real code.
Not covered: hacks of the harness that this file does not hold.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unhack.core.errors import SandboxUnavailableError
from unhack.core.group import Advantages, advantages
from unhack.core.verdict import Verdict
from unhack.sandbox.job import Backend
from unhack.sandbox.limits import Limits
from unhack.tasks.batch import Batch, run_batch
from unhack.tasks.suite import find_task
from unhack.tasks.task import Task
from unhack.verifiers.function import FunctionVerifier
from unhack.verifiers.script import Mode, ScriptVerifier

_DATA = Path(__file__).with_name("group.toml")


@dataclass(frozen=True, slots=True)
class DemoCompletion:
    """One completion of the group."""

    name: str
    kind: str
    """`right`, `wrong` or `hack`."""
    tries: str
    """Its approach, in a few words."""
    text: str
    beside: bool
    """True when the one-process harness may run it."""


@dataclass(frozen=True, slots=True)
class DemoGroup:
    """A task, the harness that it is held against, and the completions."""

    task: Task
    harness: Task
    """The task with the harness as its verifier, run as written."""
    resealed: Task
    """The same harness, with the solution in a sandbox."""
    attempts: tuple[DemoCompletion, ...]


@dataclass(frozen=True, slots=True)
class DemoVerdicts:
    """The group's verdicts."""

    sealed: Batch
    beside: tuple[Verdict | None, ...]
    """Verdicts of the one-process harness; None where it was not run."""
    resealed: tuple[Verdict | None, ...]
    """Verdicts of the same harness, unchanged, with the solution in a sandbox."""

    @property
    def sealed_advantages(self) -> Advantages:
        """GRPO's advantages from the sealed rewards."""
        return self.sealed.advantages("grpo")

    @property
    def beside_advantages(self) -> Advantages:
        """GRPO's advantages from the harness's scores; what was not run is left out."""
        scores = [None if verdict is None else verdict.score for verdict in self.beside]
        return advantages(scores, [range(len(scores))])


def load_group() -> DemoGroup:
    """The group that ships with the package."""
    data: dict[str, Any] = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    task = find_task(data["task"])
    assert isinstance(task.verifier, FunctionVerifier)
    assert task.path is not None
    # The whole time at full speed: on a busy host the rest of a demoted job may take long.
    limits = task.verifier.limits.with_(wall_s=data["wall_s"], soft_slice_s=data["wall_s"])
    harness = ScriptVerifier(
        script=data["harness"],
        cases=(task.path / "cases.jsonl").read_text(encoding="utf-8"),
        mode=Mode.AS_WRITTEN,
        limits=limits,
    )
    attempts = tuple(_attempt(fields, task.path) for fields in data["completion"])
    return DemoGroup(
        replace(task, verifier=replace(task.verifier, limits=limits)),
        replace(task, verifier=harness),
        replace(task, verifier=replace(harness, mode=Mode.SEALED, limits=_slices(limits))),
        attempts,
    )


def _slices(limits: Limits) -> Limits:
    """The limits with the usual slice: here a slot that is held keeps a judge from its candidate,
    whose time runs."""
    return limits.with_(soft_slice_s=Limits().soft_slice_s)


def _attempt(fields: dict[str, Any], folder: Path) -> DemoCompletion:
    text = fields.get("text") or (folder / fields["file"]).read_text(encoding="utf-8")
    beside = fields.get("beside", True)
    return DemoCompletion(fields["name"], fields["kind"], fields["tries"], text, beside)


def judge(group: DemoGroup, backend: Backend) -> DemoVerdicts:
    """Judge every completion sealed, beside it in the one-process harness, and in that harness
    with the seal.

    Raises what `run_batch` raises.
    """
    texts = [attempt.text for attempt in group.attempts]
    sealed = run_batch(group.task, texts, group_size=len(texts), backend=backend)
    harmless = [index for index, attempt in enumerate(group.attempts) if attempt.beside]
    return DemoVerdicts(
        sealed,
        _judge_some(group.harness, texts, chosen=harmless, backend=backend),
        _judge_some(group.resealed, texts, chosen=range(len(texts)), backend=backend),
    )


def _judge_some(
    task: Task, texts: Sequence[str], *, chosen: Sequence[int], backend: Backend
) -> tuple[Verdict | None, ...]:
    """Verdicts of the chosen texts; all None where the host cannot contain the harness."""
    try:
        verdicts = run_batch(task, [texts[index] for index in chosen], backend=backend).verdicts
    except SandboxUnavailableError:
        return (None,) * len(texts)
    found = dict(zip(chosen, verdicts, strict=True))
    return tuple(found.get(index) for index in range(len(texts)))


def count_rewarded(
    verdicts: Sequence[Verdict | None], attempts: Sequence[DemoCompletion], *, kind: str
) -> int:
    """The number of attempts of a kind that got the full score."""
    pairs = zip(verdicts, attempts, strict=True)
    return sum(v is not None and v.score == 1.0 and attempt.kind == kind for v, attempt in pairs)
