"""The suite `repos`: repository tasks made from families of small packages.

    public_tasks()              the published tasks, the same for everybody, checked
    make_tasks(seed, count)     others; from a secret seed nobody has seen them

Task i of a seed is drawn from a `random.Random` of its own, so a longer draw begins with the
shorter one. `secret` draws other hidden tests for the same repositories.

Covered: faults of one and of several sites, silent ones, faults at the borders of files, removed
features, a removed feature with a fault beside it; three levels of help.
Not covered: judging (`verifiers.repository`); the ten checks of a task (`validation`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from unhack.core.errors import UsageError
from unhack.core.hashing import content_hash
from unhack.environments.task import RepositoryTask
from unhack_suites.repos import statements
from unhack_suites.repos.catalogue import FAMILIES
from unhack_suites.repos.family import Feature
from unhack_suites.repos.faults.drawing import Faults, all_matter, draw_faults
from unhack_suites.repos.published import PUBLISHED
from unhack_suites.repos.repository import Repository, draw_repository
from unhack_suites.repos.running import LocalRunner, ids_of
from unhack_suites.repos.shingles import without_shared

KINDS = ("single", "silent", "border", "combined", "feature", "feature+fault")
_ATTEMPTS = 12


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that a task is made from."""

    family: str
    seed: str
    kind: str
    level: str
    secret: str = ""

    @property
    def id(self) -> str:
        """The task's id: suite, family, kind, and a hash of the rest."""
        mark = content_hash(self.seed, self.level, self.secret)[:8]
        return f"repos/{self.family}-{self.kind.replace('+', '-')}-{mark}"


def make_tasks(seed: int | str, count: int, *, secret: str = "") -> list[RepositoryTask]:
    """`count` tasks of a seed; with `secret`, their hidden tests come from it.

    Raises UsageError for a count below 1.
    """
    if count < 1:
        raise UsageError(f"at least one task can be made, not {count}")
    return [_task_of(f"{seed}", index, secret) for index in range(count)]


def public_recipes() -> tuple[Recipe, ...]:
    """The recipes of the published tasks, in their order; each makes a task."""
    return tuple(Recipe(*row) for row in PUBLISHED)


@functools.cache
def public_tasks() -> tuple[RepositoryTask, ...]:
    """The published tasks, in their order."""
    made = [build(recipe) for recipe in public_recipes()]
    return tuple(task for task in made if task is not None)


def recipes(seed: str, index: int, *, secret: str = "") -> Iterator[Recipe]:
    """Recipes for task `index` of a seed, one attempt after another; families take turns, kinds
    and levels are drawn."""
    for attempt in range(_ATTEMPTS):
        rng = Random(f"{seed}/{index}/{attempt}")
        families = list(FAMILIES)
        Random(f"{seed}/{index // len(families)}").shuffle(families)
        yield Recipe(
            family=families[index % len(families)],
            seed=f"{seed}/{index}/{attempt}",
            kind=rng.choice(KINDS),
            level=rng.choice(statements.LEVELS),
            secret=secret,
        )


def _task_of(seed: str, index: int, secret: str) -> RepositoryTask:
    for recipe in recipes(seed, index, secret=secret):
        task = build(recipe)
        if task is not None:
            return task
    raise UsageError(f"seed {seed}: no task {index} in {_ATTEMPTS} attempts")


def build(recipe: Recipe) -> RepositoryTask | None:
    """The task of a recipe; None where its repository has no fault or feature that qualifies.

    Raises UsageError for an unknown family, kind or level.
    """
    if recipe.family not in FAMILIES or recipe.kind not in KINDS:
        raise UsageError(f"no such family or kind: {recipe.family}, {recipe.kind}")
    if recipe.level not in statements.LEVELS:
        raise UsageError(f"no such level of help: {recipe.level}")
    repository = draw_repository(FAMILIES[recipe.family], recipe.seed)
    rng = Random(f"{recipe.seed}/{recipe.kind}")
    if recipe.kind.startswith("feature"):
        return _feature_task(recipe, repository, rng)
    faults = draw_faults(
        repository.sources(), repository.suite("hidden"),
        kind=recipe.kind, rng=rng, run=LocalRunner(),
    )  # fmt: skip
    if faults is None:
        return None
    visible = repository.suite("visible")
    setting = statements.FaultySetting(repository, faults.files, visible, recipe.seed)
    statement = statements.of_faults(setting, recipe.level, parts=len(faults.edits))
    if statement is None:
        return None
    made = _Made(faults.files, visible, statement, faults=faults)
    return _task(recipe, repository, made)


def _feature_task(recipe: Recipe, repository: Repository, rng: Random) -> RepositoryTask | None:
    feature = rng.choice(repository.features)
    less = repository.sources(without=feature.name)
    visible = repository.suite("visible", without=feature.name)
    statement = statements.of_feature(repository, feature, recipe.level, seed=recipe.seed)
    if recipe.kind == "feature":
        return _task(recipe, repository, _Made(less, visible, statement, feature=feature))
    kept = repository.suite("hidden", without=feature.name)
    faults = draw_faults(less, kept, kind="single", rng=rng, run=LocalRunner())
    if faults is None:
        return None
    # What is seen of the fault is told in a paragraph of its own, the feature's part left out.
    seen = [
        one
        for one in statements.observe(repository, faults.files)
        if one.case.needs != feature.name
    ]
    if not seen:
        return None
    told = statements.broken_rule(repository, seen[0], recipe.level)
    made = _Made(faults.files, visible, f"{statement}\n{told}\n", feature=feature, faults=faults)
    return _task(recipe, repository, made)


@dataclass(frozen=True, slots=True)
class _Made:
    """The start state of a task, and how it came about."""

    sources: Mapping[str, str]
    visible: Mapping[str, str]
    statement: str
    feature: Feature | None = None
    faults: Faults | None = None


def _task(recipe: Recipe, repository: Repository, made: _Made) -> RepositoryTask | None:
    """The task, its expected ids taken from a run at the start state."""
    given = [made.statement, *made.visible.values(), *made.sources.values()]
    hidden = without_shared(
        repository.suite("hidden", secret=recipe.secret), given, repository.other_suites()
    )
    if made.faults and not all_matter(made.faults, hidden, LocalRunner()):
        return None
    without = made.feature.name if made.feature else ""
    start = {**repository.files(without=without), **made.sources}
    right = repository.sources()
    reference: dict[str, str | None] = {
        path: text for path, text in right.items() if start.get(path) != text
    }
    ran = LocalRunner()(made.sources, hidden)
    ids = ids_of(hidden)
    failing = tuple(name for name in ids if name not in ran or not ran[name].passed)
    passing = tuple(name for name in ids if name in ran and ran[name].passed)
    if not failing:
        return None
    dev = repository.suite("dev")
    return RepositoryTask(
        id=recipe.id,
        statement=made.statement,
        files={path: text.encode() for path, text in {**start, **made.visible}.items()},
        editable=(f"{repository.package}/",),
        tests=hidden,
        reference=reference,
        fail_to_pass=failing,
        pass_to_pass=passing,
        dev_tests=dev,
        dev_ids=tuple(ids_of(dev)),
        facts=_facts(recipe, made, hidden, failing),
    )


def _facts(
    recipe: Recipe, made: _Made, hidden: Mapping[str, str], failing: tuple[str, ...]
) -> dict[str, Any]:
    """The difficulty dials and the origin."""
    edits = made.faults.edits if made.faults else ()
    shown = LocalRunner()(made.sources, made.visible)
    distances: list[int] = []
    for edit in edits:
        if edit.function:
            runner = LocalRunner(watched=edit.place)
            runner(made.sources, hidden)
            near = [runner.depths[name] for name in failing if name in runner.depths]
            distances += [min(near)] if near else []
    return {
        "suite": "repos",
        "family": recipe.family,
        "seed": recipe.seed,
        "kind": recipe.kind,
        "help": recipe.level,
        "feature": made.feature.name if made.feature else None,
        "faults": len(edits),
        "operators": [edit.operator for edit in edits],
        "places": [edit.place for edit in edits],
        "distance": max(distances, default=None),
        "visible_failures": sum(not ran.passed for ran in shown.values()),
        "modules": len(made.sources),
        "lines": sum(text.count("\n") for text in made.sources.values()),
        "visible_tests": len(shown),
        "hidden_tests": len(ids_of(hidden)),
    }


def fingerprint(task: RepositoryTask) -> str:
    """A hash of what an agent is given and what it is judged by, so that a published task is known
    wherever it turns up."""
    parts: list[str | bytes] = [task.statement]
    for path in sorted(task.files):
        parts += [path, task.files[path]]
    for path in sorted(task.tests):
        parts += [path, task.tests[path]]
    return content_hash(*parts)
