"""Sealed tests in which the solution's own classes said that two of its objects are equal.

    assert added(Money(4), Money(3)) == Money(7)        passes for a class that equals everything

Such a test runs again, sealed, as itself and as twins in which what the objects are made from is
changed (`Money(61)`), under random names in random order. Itself must pass, the twins must fail.
The solution's process holds no test, so it cannot tell which is which but by computing.

Covered: `==`, `!=` and `in` of objects, in containers too; whatever the reference does likewise is
not held against a solution (a tolerance, a case that is ignored).
Not covered: objects that no test makes from a constant: their tests are named in the verdict's
details as `unverified`; two objects that are said to differ; a class that computes just what the
test asks for and nothing else.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from unhack.sandbox.job import Job
from unhack.verifiers.repository import ids
from unhack.verifiers.repository.twins import Place, TwinSuite, object_twins
from unhack.verifiers.sealed import SealedPair

_ROUNDS = 2
"""Runs with twins, each with edits of its own; a guess passes both in 1 of 64."""
Pairing = Generator[list[Job], Any, SealedPair]
RunFields = Callable[[Mapping[str, Any]], Pairing]
"""Runs the fields of a job against one solution."""


@dataclass(frozen=True, slots=True)
class ObjectDoubts:
    """The outcome of a trial."""

    reasons: Mapping[str, str]
    """Test id -> why its pass does not count."""
    unchecked: tuple[str, ...]
    """Ids that passed by the solution's word alone, as no twin could be made."""


@dataclass(frozen=True, slots=True)
class ObjectTrial:
    """The twins of tests that passed by what the solution's classes said."""

    tests: Mapping[str, str]
    fields: Mapping[str, Any]
    """The fields of the job that ran the tests as they are."""
    barred: set[Place]
    """Edits that the reference was seen to pass; grows."""
    _doubted: dict[str, str] = field(default_factory=dict[str, str], init=False)
    _checked: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]], init=False)
    """(file, function) of tests with a twin that a right solution fails."""

    def doubts(
        self,
        passed: Sequence[str],
        unverified: Collection[str],
        run: RunFields,
        run_reference: RunFields,
    ) -> Generator[list[Job], Any, ObjectDoubts]:
        """Try the `passed` tests that are `unverified`."""
        names = [name for name in passed if name in unverified]
        wanted = list(dict.fromkeys(map(ids.function_of, names)))
        twinned: set[tuple[str, str]] = set()
        for _ in range(_ROUNDS):
            suite = self._suite(wanted)
            twinned |= {(file, one) for (file, _), (one, _) in suite.twins.items()}
            if suite.twins:
                yield from self._round(suite, names, run, run_reference)
            wanted = [one for one in wanted if one in twinned]
        unchecked = [name for name in names if ids.function_of(name) not in self._checked]
        return ObjectDoubts(dict(self._doubted), tuple(unchecked))

    def _suite(self, wanted: Sequence[tuple[str, str]]) -> TwinSuite:
        random = Random(secrets.randbits(128))
        sources = {path: self.tests[path] for path, _ in wanted}
        return object_twins(sources, wanted, random=random, barred=self.barred)

    def _round(
        self, suite: TwinSuite, names: Sequence[str], run: RunFields, run_reference: RunFields
    ) -> Generator[list[Job], Any, None]:
        results = yield from self._results(suite, run)
        accepted = results.accepted_twins()
        functions = {(file, one) for (file, _), one in suite.originals.items()} - suite.untwinned
        lost = {
            name for name in names if ids.function_of(name) in functions and not results.of(name)[0]
        }
        places = {(file, *place) for (file, _), place in suite.twins.items()}
        if not accepted and not lost:
            self._checked.update(place[:2] for place in places)
            return
        control = yield from self._results(suite, run_reference)
        harmless, without_use = control.harmless()
        self.barred.update(without_use)
        self._checked.update(place[:2] for place in places - without_use)
        agreed = {place[:2] for _, _, place in accepted - harmless}
        for name in names:
            if ids.function_of(name) in agreed:
                reason = "its objects are equal to those of a changed expectation too"
                self._doubted.setdefault(name, reason)
            elif name in lost and control.of(name)[0]:
                reason = "its objects were equal in one run and not in the next"
                self._doubted.setdefault(name, reason)

    def _results(self, suite: TwinSuite, run: RunFields) -> Generator[list[Job], Any, ids.Results]:
        files = {path for path, _ in (*suite.originals, *suite.twins)}
        varied = {
            "tests": [path for path in self.fields["tests"] if path in files],
            "sources": dict(suite.sources),
            "functions": suite.functions,
            "wanted": (),
        }
        pair = yield from run({**self.fields, **varied})
        return ids.Results([line for line in pair.lines if line[0] is not None], suite)
