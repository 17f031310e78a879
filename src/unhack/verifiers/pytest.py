"""Judge-owned pytest files against the candidate's declared files.

Sealed by default: pytest runs in the judge's process and `import solution` gives proxies, so a
candidate's conftest, plugins, caches, monkeypatches, skips and exits reach nothing. Results come
from a collector of the judge's own. `mode = "as_written"` runs everything in one process and is
marked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from unhack.core.completion import Extraction
from unhack.core.problem import Problem
from unhack.core.verdict import CaseResult, Seal, Verdict
from unhack.sandbox.limits import Limits
from unhack.sandbox.rootfs import packages_beside
from unhack.verifiers import canaries, sealed
from unhack.verifiers.base import Steps, no_code_verdict
from unhack.verifiers.script import Mode


@dataclass(frozen=True)
class PytestVerifier:
    r"""Verifier of kind `pytest`.

    Example:

        test = "from solution import f\n\ndef test_f():\n    assert f(2) == 4\n"
        PytestVerifier({"test_f.py": test})
    """

    kind = "pytest"
    tests: Mapping[str, str]
    """Test files: name -> source. They, and a conftest among them, belong to the judge."""
    solution_files: tuple[str, ...] = ("solution.py",)
    """Files that the completion provides, importable by module name. Where one has a folder in its
    path (`pkg/core.py`, `src/pkg/core.py`) they are a tree: packages are imported as packages, and
    a file that is no module lies beside them as data."""
    mode: Mode = Mode.SEALED
    objects: tuple[str, ...] = ()
    """As in `ScriptVerifier`: classes whose comparisons and arithmetic with data count."""
    partial_credit: bool = False
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further files that the tests read."""
    packages: tuple[str, ...] = ()
    """Third-party modules that solutions of single modules may import, such as `numpy`."""
    limits: Limits = Limits()
    extraction: Extraction = Extraction.AUTO

    def __post_init__(self) -> None:
        if not self.tests:
            raise ValueError("a pytest verifier without test files would pass everything")
        sealed.check_names(self.objects)

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Judge one completion."""
        seal = Seal.SEALED if self.mode is Mode.SEALED else Seal.AS_WRITTEN
        modules = sealed.solution_modules(completion, self.solution_files, self.extraction)
        tree = None
        if self._is_tree:
            tree = sealed.solution_tree(completion, self.solution_files, self.extraction)
        if modules is None:
            wanted = " and ".join(self.solution_files)
            reason = f"the completion has no code for {wanted}"
            return no_code_verdict(completion, seal=seal, reason=reason)
        fields = {
            "files": {**self.files, **self.tests},
            "objects": self.objects,
            "tests": [name for name in self.tests if not name.endswith("conftest.py")],
        }
        run = sealed.run_as_written
        if self.mode is Mode.SEALED:
            run = partial(sealed.run_pair, packages=self.packages)
        preload = ("pytest", *packages_beside(self.packages))
        pair = yield from run(
            "pytest", fields, tree or modules, limits=self.limits, preload=preload
        )
        lines = sealed.judged_lines(pair, seal=seal)
        if isinstance(lines, Verdict):
            return lines
        cases = [CaseResult(bool(passed), str(reason)) for _, passed, _, reason in lines]
        share = sum(case.passed for case in cases) / len(cases)
        score = share if self.partial_credit else float(share == 1.0)
        first = next((f"{line[0]}: {line[3]}" for line in lines if not line[1]), "")
        return sealed.conclude(pair, score, first[:400], seal=seal, cases=cases)

    @property
    def _is_tree(self) -> bool:
        return any("/" in name for name in self.solution_files)

    def canary(self) -> str:
        """Empty modules: every test must be able to fail on them."""
        return self._completion("pass\n")

    def canaries(self, problem: Problem) -> tuple[str, ...]:
        """Empty modules, then some whose functions return None, 0, a list …: suites that use what
        they import while they are collected need one that answers."""
        del problem
        root = sealed.root_of(self.solution_files)
        names = [sealed.dotted_name(name, root) for name in self.solution_files]
        made = canaries.modules(names, [*self.tests.values(), *self.files.values()])
        return (self.canary(), *map(self._completion, made))

    def _completion(self, source: str) -> str:
        """A completion in which every solution file is `source`."""
        if len(self.solution_files) == 1:
            return source
        return "\n".join(f"```python {name}\n{source}```" for name in self.solution_files)
