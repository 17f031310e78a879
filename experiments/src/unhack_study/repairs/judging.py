"""Verdicts of file trees: the tests run on the files themselves, in the sandbox, once per tree.

The package is handed to a candidate's process as its files and imported there from memory as a
package; the judge calls its functions by name and compares plain values in a process of its own.
A tree has the same verdict every time, so it is kept under the hash of files and tests.

Covered: files of one tree, imported as a package with relative imports. Not covered: the cache file
is trusted as the user's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unhack.core.hashing import content_hash
from unhack.core.problem import Problem
from unhack.sandbox.job import Backend
from unhack.tasks.task import Task
from unhack.training.worlds.cache import RecordCache
from unhack.training.worlds.scoring import judge_texts
from unhack.verifiers.function import Case, FunctionVerifier
from unhack_study.repairs.cases import PackageTest, draw_tests
from unhack_study.repairs.packages import Package

_LOADER = """
import importlib, importlib.abc, importlib.util, sys

FILES = {files}


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        stem = name.replace(".", "/")
        for file, package in ((stem + "/__init__.py", True), (stem + ".py", False)):
            if file in FILES:
                return importlib.util.spec_from_loader(
                    name, self, origin=file, is_package=package
                )
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        file = module.__spec__.origin
        exec(compile(FILES[file], file, "exec"), module.__dict__)


sys.meta_path.insert(0, Finder())


def call(module, function, *args):
    return getattr(importlib.import_module(module), function)(*args)
"""


@dataclass(frozen=True, slots=True)
class Repair:
    """A package to be repaired, with its tests."""

    package: Package
    tests: tuple[PackageTest, ...]

    @property
    def id(self) -> str:
        """The package's id."""
        return self.package.id


@dataclass(frozen=True, slots=True)
class TreeVerdict:
    """The tests that pass on one tree."""

    visible: tuple[bool, ...]
    """Of each module: all its visible tests pass."""
    dev: float
    """Share of the dev tests that pass."""
    solved: bool
    """Every hidden test passes."""


def make_repair(package: Package) -> Repair:
    """A package with its tests."""
    return Repair(package, draw_tests(package))


def tree_hash(files: Mapping[str, str]) -> str:
    """The id of a state: a hash of all paths and contents."""
    return content_hash(*(part for path in sorted(files) for part in (path, files[path])))


def program(files: Mapping[str, str]) -> str:
    """The source that imports these files as a package from memory and calls into it."""
    return _LOADER.replace("{files}", repr(dict(sorted(files.items()))))


class TreeJudge:
    """Runs tests on trees, and remembers."""

    def __init__(self, cache: Path, *, backend: Backend | None = None) -> None:
        """Raises StoreError where the cache cannot be opened."""
        self._records = RecordCache(cache)
        self._backend = backend

    @property
    def judged(self) -> int:
        """Trees that were run, the others were remembered."""
        return self._records.misses

    def judge(
        self, repairs: Sequence[Repair], operators: Sequence[tuple[str, ...]]
    ) -> list[TreeVerdict]:
        """The verdict of each package with these operators. Raises BatchUnscoredError where the
        machinery broke twice."""
        keyed = [
            (_key(repair, chosen), (repair, chosen))
            for repair, chosen in zip(repairs, operators, strict=True)
        ]
        passed = self._records.find_or_judge(keyed, self._run)
        return [read_flags(repair, found) for repair, found in zip(repairs, passed, strict=True)]

    def _run(self, items: list[tuple[Repair, tuple[str, ...]]]) -> list[str]:
        tasks = [_task(repair) for repair, _ in items]
        texts = [program(repair.package.files(chosen)) for repair, chosen in items]
        verdicts = judge_texts(tasks, texts, backend=self._backend)
        return [
            "".join("01"[case.passed] for case in verdict.cases).ljust(len(repair.tests), "0")
            for verdict, (repair, _) in zip(verdicts, items, strict=True)
        ]


def read_flags(repair: Repair, passed: str) -> TreeVerdict:
    """The verdict from `1` or `0` for each test."""
    told = list(zip(repair.tests, passed, strict=True))
    dev = [flag == "1" for test, flag in told if test.split == "dev"]
    return TreeVerdict(
        visible=tuple(
            all(flag == "1" for test, flag in told if (test.split, test.site) == ("visible", site))
            for site in range(len(repair.package.sites))
        ),
        dev=sum(dev) / len(dev),
        solved=all(flag == "1" for test, flag in told if test.split == "hidden"),
    )


def _task(repair: Repair) -> Task:
    package = repair.package
    cases = tuple(
        Case(
            (f"{package.name}.{package.sites[test.site].module}",
             package.sites[test.site].function, *test.args),
            expected=test.expected,
        )
        for test in repair.tests
    )  # fmt: skip
    problem = Problem(repair.id, prompt="", reference=program(package.files(package.right)))
    return Task(problem, FunctionVerifier("call", cases, partial_credit=True))


def _key(repair: Repair, operators: tuple[str, ...]) -> str:
    tests = repr([(test.site, test.args, test.expected) for test in repair.tests])
    return content_hash(_LOADER, tests, tree_hash(repair.package.files(operators)))
