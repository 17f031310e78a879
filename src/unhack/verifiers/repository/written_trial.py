"""Tests that share a process with the solution, each as itself in one process and as a twin in
another.

    whole      every test as it is                        all expected ones pass
    pair       about half of the tests are twins          the twins fail, the others pass
               the other half are twins                   likewise

No process sees a test twice, or anything of another process. What differs from the whole is held
against a solution only where the reference, run in the same way, does otherwise: so a test that
needs what another one prepared may fail after a twin that failed.

Covered: results that are reported whatever happens; a solution that does as each test says.
Not covered: a solution that works out which expectation is the right one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unhack.sandbox.job import Job, Outcome
from unhack.verifiers import jobs
from unhack.verifiers.repository import ids
from unhack.verifiers.repository.twins import Place, TwinSuite

_SURE = 3
"""A row that the reference passed as often is not looked at again."""
RunSuites = Callable[[Sequence[TwinSuite]], Generator[list[Job], Any, list[Outcome]]]
"""Runs suites, each in a process of its own."""


@dataclass(frozen=True, slots=True)
class WrittenDoubts:
    """The outcome of a trial."""

    reasons: Mapping[str, str]
    """Test id -> why its pass does not count."""
    accepted: int
    """Twins that passed and should not have."""


@dataclass(frozen=True, slots=True)
class WrittenTrial:
    """The pairs of runs after one that passed."""

    expected: Sequence[str]
    barred: set[Place]
    """Edits that the reference was seen to pass; grows."""
    seen_harmless: Counter[ids.Accepted]
    """How often the reference passed single rows of other edits; grows."""

    def doubts(
        self,
        suites: Sequence[TwinSuite],
        whole: ids.Results,
        run: RunSuites,
        run_reference: RunSuites,
    ) -> Generator[list[Job], Any, WrittenDoubts]:
        """Compare the runs of `suites` with that of the whole."""
        found = yield from self._results(suites, run)
        doubtful: list[tuple[TwinSuite, ids.Results, set[ids.Accepted], set[str]]] = []
        for suite, results in zip(suites, found, strict=True):
            passed = results.passed_twins(whole)
            passed = {one for one in passed if self.seen_harmless[one] < _SURE}
            lost = self._lost(suite, results, whole)
            if passed or lost:
                doubtful.append((suite, results, passed, lost))
        if not doubtful:
            return WrittenDoubts({}, 0)
        controls = yield from self._results([one[0] for one in doubtful], run_reference)
        reasons: dict[str, str] = {}
        accepted = 0
        for (_, _, passed, lost), control in zip(doubtful, controls, strict=True):
            harmless, places = control.harmless()
            self.barred.update(places)
            self.seen_harmless.update(harmless)
            left = passed - harmless
            accepted += len(left)
            functions = {place[:2] for _, _, place in left}
            for name in self.expected:
                if ids.function_of(name) in functions:
                    reasons.setdefault(name, _ACCEPTED)
                elif name in lost and control.of(name)[0]:
                    reasons.setdefault(name, "it passed in one run and not in the next")
        return WrittenDoubts(reasons, accepted)

    def _lost(self, suite: TwinSuite, results: ids.Results, whole: ids.Results) -> set[str]:
        """Tests that passed in the whole, and as they are not in this run."""
        here = {(file, name) for (file, _), name in suite.originals.items()}
        return {
            name
            for name in self.expected
            if ids.function_of(name) in here and whole.of(name)[0] and not results.of(name)[0]
        }

    def _results(
        self, suites: Sequence[TwinSuite], run: RunSuites
    ) -> Generator[list[Job], Any, list[ids.Results]]:
        outcomes = yield from run(suites)
        return [
            ids.Results(jobs.result_lines(outcome.result), suite)
            for outcome, suite in zip(outcomes, suites, strict=True)
        ]


_ACCEPTED = "passed with a changed expectation too: the results are not those of the tests"
