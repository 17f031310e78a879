"""Verifier scripts in the usual style: `verify(solution_path, test_cases_path)` that imports the
solution.

`mode = "sealed"` (the default) runs the script unchanged, and the import gives proxies. `mode =
"as_written"` runs it in one process with the solution, as its author does, inside the sandbox; a
completion can then forge the score, and every verdict is marked `as_written`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

from unhack.core.completion import Extraction
from unhack.core.problem import Problem
from unhack.core.verdict import Seal, Verdict
from unhack.sandbox.limits import Limits
from unhack.sandbox.rootfs import packages_beside
from unhack.verifiers import canaries, sealed
from unhack.verifiers.base import Steps, no_code_verdict


class Mode(StrEnum):
    """The place where the solution runs.

    Example:

        ScriptVerifier(source, mode=Mode.AS_WRITTEN)  # its verdicts are marked weaker
    """

    SEALED = "sealed"
    AS_WRITTEN = "as_written"


@dataclass(frozen=True)
class ScriptVerifier:
    """Verifier of kind `script`.

    Example:

        script = Path("verify.py").read_text()  # defines verify(solution_path, test_cases_path)
        ScriptVerifier(script, cases=Path("cases.jsonl").read_text())
    """

    kind = "script"
    script: str
    """Source that defines `verify(solution_path, test_cases_path)` and returns a bool, a number in
    [0, 1] or a dict with `score`; without `verify`, a program that prints such a JSON value
    last."""
    cases: str = ""
    """Content of the file that `test_cases_path` names."""
    cases_name: str = "cases.jsonl"
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Sibling modules and data: name -> content."""
    solution: str = "solution.py"
    mode: Mode = Mode.SEALED
    objects: tuple[str, ...] = ()
    """Classes of the solution whose own `==`, `<`, `in` and arithmetic with the script's data are
    to count: their word decides. Sealed mode refuses those operations for every other class."""
    preload: tuple[str, ...] = ()
    """Modules that the script imports; loading them once in the worker saves their import time."""
    packages: tuple[str, ...] = ()
    """Third-party modules that solutions may import, such as `numpy`."""
    limits: Limits = Limits()
    extraction: Extraction = Extraction.AUTO

    def __post_init__(self) -> None:
        sealed.check_names(self.objects)

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Judge one completion."""
        seal = Seal.SEALED if self.mode is Mode.SEALED else Seal.AS_WRITTEN
        modules = sealed.solution_modules(completion, (self.solution,), self.extraction)
        if modules is None:
            return no_code_verdict(completion, seal=seal)
        fields = {
            "script": self.script,
            "cases_name": self.cases_name,
            "files": {**self.files, self.cases_name: self.cases},
            "objects": self.objects,
        }
        run = sealed.run_as_written
        if self.mode is Mode.SEALED:
            run = partial(sealed.run_pair, packages=self.packages)
        preload = (*self.preload, *packages_beside(self.packages))
        pair = yield from run("script", fields, modules, limits=self.limits, preload=preload)
        lines = sealed.judged_lines(pair, seal=seal)
        if isinstance(lines, Verdict):
            return lines
        _, _, score, reason = lines[-1]
        return sealed.conclude(pair, float(score), str(reason), seal=seal)

    def canary(self) -> str:
        """A module in which every name is a function that returns None."""
        return "def __getattr__(name):\n    return lambda *args, **kwargs: None\n"

    def control_doubt(self) -> str:
        """See `DoubtsControls`: the script asserts what only a right solution does."""
        line = canaries.asserting_line(self.script)
        return f"the assert in line {line} of its script raises on what is not right" * bool(line)

    def canaries(self, problem: Problem) -> tuple[str, ...]:
        """Modules whose functions return None, 0, a list …: a script judges at least one."""
        del problem
        sources = (self.script, *self.files.values())
        return canaries.modules([sealed.module_name(self.solution)], sources)
