"""reasoning-gym data sets by name (the optional package `reasoning-gym`).

    tasks = load("base_conversion", size=50, seed=7)

The library generates the entries here; its `score_answer`, third-party code that looks at untrusted
text, runs in a judge's worker in which the library is loaded once (about 100 MB each, 3 ms of CPU
an answer). The answer is what the completion marks as its answer, in the forms named by `markers`;
a completion that marks none scores 0.

Covered: all data sets but `composite`; partial scores; a scorer that raises (the control decides);
one that pays any text is refused when its entries are loaded.
Not covered: data sets whose entries hold objects that are not plain data (none in version 0.1.25).
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from unhack.core import plain
from unhack.core.errors import TaskError, UnknownNameError, UsageError
from unhack.core.problem import Problem
from unhack.core.verdict import Seal, Status
from unhack.sandbox.job import Profile, Role
from unhack.sandbox.limits import Limits
from unhack.tasks.task import Task
from unhack.verifiers import jobs
from unhack.verifiers.answers.final_answer import Marker, marked_answers, write_answer
from unhack.verifiers.base import Steps, invalid_verdict
from unhack.verifiers.jobs import read_checks, verdict_of

_SCORER = Path(__file__).with_name("reasoning_gym_scorer.py")
_PROFILE = Profile(role=Role.JUDGE, site_packages=True, preload=("reasoning_gym",))
MOST_FOR_JUNK = 0.3
"""Some scorers give up to a quarter for any answer at all."""
LIMITS = Limits(wall_s=10.0, cpu_s=10.0)
"""Of the scoring of one answer."""


def names() -> tuple[str, ...]:
    """The names of all data sets. Raises UsageError when the package is missing."""
    _library()
    known = importlib.import_module("reasoning_gym.factory").DATASETS
    return tuple(sorted(name for name in known if name != "composite"))


def load(
    name: str,
    *,
    size: int = 100,
    seed: int = 0,
    config: Mapping[str, Any] | None = None,
    markers: tuple[Marker, ...] = (Marker.TAG,),
    limits: Limits = LIMITS,
) -> tuple[Task, ...]:
    """`size` tasks of a data set; the same name, size, seed, config and version give the same
    tasks.

    `config` holds further fields of the data set's own configuration. Raises UnknownNameError,
    UsageError when the package is missing, TaskError when the configuration is wrong or an entry is
    not plain data.
    """
    if name not in names():
        raise UnknownNameError("reasoning-gym data set", name, valid=names())
    settings = {**(config or {}), "size": size, "seed": seed}
    try:
        dataset = _library().create_dataset(name, **settings)
    except (AssertionError, TypeError, ValueError) as error:
        raise TaskError(f"reasoning-gym {name}: {error}") from None
    rules = ScoringRules(markers, limits)
    return tuple(
        entry_task(name, settings, dataset[index], rules=rules, number=index, dataset=dataset)
        for index in range(size)
    )


def _library() -> Any:
    try:
        return importlib.import_module("reasoning_gym")
    except ImportError as error:
        raise UsageError(
            f"reasoning-gym tasks need an optional package ({error}): "
            "pip install '.[reasoning-gym]' in a checkout of unhack"
        ) from None


@dataclass(frozen=True, slots=True)
class ScoringRules:
    """The rules that all tasks of one data set share."""

    markers: tuple[Marker, ...] = (Marker.TAG,)
    """Forms in which a completion may mark its answer; the last marked answer counts."""
    limits: Limits = LIMITS


def entry_task(
    name: str,
    settings: dict[str, Any],
    entry: Any,
    *,
    rules: ScoringRules,
    number: int,
    dataset: Any = None,
) -> Task:
    """The task of one entry of a data set. Raises TaskError for one that is not plain data,
    UsageError when the package is missing."""
    try:
        encoded = plain.encode_tags(plain.to_builtins(plain.decode_tags(plain.encode_tags(entry))))
    except plain.PlainDataError as error:
        raise TaskError(f"reasoning-gym {name}, entry {number}: {error}") from None
    if "$opaque" in plain.encode_json(encoded):
        raise TaskError(f"reasoning-gym {name}, entry {number}: it is not plain data")
    answer = entry["answer"]
    reference = write_answer(answer, rules.markers[0]) if isinstance(answer, str) else None
    meta: dict[str, Any] = {"dataset": name, "index": number}
    if "seed" in settings:
        meta["seed"] = settings["seed"]
    task_id = f"reasoning-gym/{name}/{number}"
    problem = Problem(task_id, entry["question"], reference=reference, meta=meta)
    dataset = dataset or _library().create_dataset(name, **settings)
    if (paid := _score_of("no idea", dataset, entry) or 0.0) > MOST_FOR_JUNK:
        raise TaskError(
            f"reasoning-gym {name}, entry {number}: its scorer pays {paid:g} for any text"
        )
    control = answer if isinstance(answer, str) else _control(name, dataset, entry)
    return Task(problem, ReasoningGymVerifier(name, settings, encoded, control, rules))


def _score_of(answer: str, dataset: Any, entry: Any) -> float | None:
    """The score of a text of ours; None if the scorer raises."""
    try:
        return float(dataset.score_answer(answer, entry))
    except Exception:
        return None


def _control(name: str, dataset: Any, entry: Any) -> str:
    """An answer that the scorer can score, where the entry holds none: some scorers raise on most
    texts, and then the control must not."""
    for answer in ("0", "none", "[]", "{}"):
        if _score_of(answer, dataset, entry) is not None:
            return answer
    raise TaskError(f"reasoning-gym {name}: its scorer raises on every control answer")


@dataclass(frozen=True)
class ReasoningGymVerifier:
    """A verifier that scores an answer with the library's `score_answer`, in a judge's worker."""

    kind = "reasoning_gym"
    dataset: str
    config: Mapping[str, Any]
    entry: Mapping[str, Any] = field(repr=False)
    """The entry as encoded plain data."""
    control: str = "0"
    """An answer that `score_answer` is known to score, right or wrong."""
    rules: ScoringRules = ScoringRules()

    @cached_property
    def _source(self) -> str:
        return _SCORER.read_text(encoding="utf-8")

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Judge one completion."""
        answers = marked_answers(completion, self.rules.markers)
        if not answers:
            forms = " or ".join(marker.value for marker in self.rules.markers)
            return invalid_verdict(f"no answer is marked ({forms})", seal=Seal.TEXT)
        values = [self.dataset, plain.encode_tags(dict(self.config)), answers[-1].text, self.entry]
        fields = {"source": self._source, "items": [[0, values]]}
        [outcome] = yield [jobs.judge("check", fields, limits=self.rules.limits, profile=_PROFILE)]
        [(_, passed, score, _)] = read_checks(outcome, [0])
        credit = float(passed) if score is None else score
        failed = (Status.FAILED, f"score_answer gave {credit:.3g}")
        judged = (Status.PASSED, "") if passed else failed
        return verdict_of(outcome, judged, score=credit, seal=Seal.TEXT)

    def canary(self) -> str:
        """A completion whose answer `score_answer` can score."""
        return write_answer(self.control, self.rules.markers[0])
