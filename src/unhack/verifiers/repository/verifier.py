"""Changed files of a repository, laid onto a fresh base and judged by tests that the policy never
holds.

Sealed, the tests run in the judge's process and the packages in the candidate's; plain values
cross. Where the solution's own classes decide that two of its objects are equal, the test runs
again beside twins (`repository.unverified`). As written, both share a process: then each test also
runs as a twin with a changed expectation, which has to fail (`repository.twins`), and the verdict
is marked weaker.

Covered: an exact set of test ids, where absent, skipped, expected to fail and collected twice are
failures; a judge's own configuration, and no plug-ins; no network, a uid that is nobody's; a
reference, without which nothing is judged, so that no completion can bring about `unscored`.
Not covered: in the mode `as_written`, code that works out which expectation is the right one, and
the judge's supporting files, which it can read there.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from unhack.core.problem import Problem
from unhack.core.verdict import CaseResult, Seal, Status, Verdict
from unhack.sandbox.job import Job, Kind, Outcome, Profile
from unhack.sandbox.limits import MIB, Limits
from unhack.verifiers import jobs, sealed
from unhack.verifiers.base import Steps, VerifierFault, invalid_verdict
from unhack.verifiers.jobs import bad_ending, require_sandbox, verdict_of
from unhack.verifiers.repository import ids
from unhack.verifiers.repository.files import (
    JUDGES,
    RefusedFilesError,
    lay,
    pack_files,
    unpack_files,
)
from unhack.verifiers.repository.twins import Place, TwinSuite, rounds, written
from unhack.verifiers.repository.unverified import ObjectTrial
from unhack.verifiers.repository.written_trial import WrittenTrial
from unhack.verifiers.script import Mode

LIMITS = Limits(wall_s=60, cpu_s=60, memory_bytes=1024 * MIB, open_files=256, output_bytes=4 * MIB)


@dataclass(frozen=True)
class RepositoryVerifier:
    r"""Verifier of kind `repository`; the completion is what `pack_files` makes.

    Example:

        verifier = RepositoryVerifier(
            {"tests/test_core.py": "from core import f\n\ndef test_f():\n    assert f() == 2\n"},
            base={"core.py": b"def f(): return 1\n"}, editable=("core.py",),
            expected=("tests/test_core.py::test_f",),
        )
    """

    kind = "repository"
    tests: Mapping[str, str]
    """The judge's test files, and what they need beside them (a conftest, data): path -> text."""
    base: Mapping[str, bytes]
    """The start state: relative path -> content."""
    editable: tuple[str, ...]
    """Paths that are handed in; a folder ends in `/` and stands for the files below it."""
    expected: tuple[str, ...]
    """Ids of the tests that must pass, as `tests/test_core.py::TestIt::test_name[2-3]`."""
    mode: Mode = Mode.SEALED
    beside: tuple[str, ...] = ()
    """Of a sealed verifier, the expected ids of tests that cannot be run apart from the solution:
    they are judged as written, the others sealed."""
    partial_credit: bool = False
    """True gives the share of the expected tests that passed, else 1 for all and 0."""
    roots: tuple[str, ...] = ()
    """Folders that packages are imported from; none: `src` where the base has modules there, and
    the top."""
    objects: tuple[str, ...] = ()
    """As in `ScriptVerifier`: classes whose comparisons and arithmetic with data count."""
    preload: tuple[str, ...] = ()
    """Installed packages that the repository imports."""
    limits: Limits = LIMITS
    _both_parts: list[RepositoryVerifier] = field(
        default_factory=list["RepositoryVerifier"], init=False, repr=False, compare=False
    )
    _barred: set[Place] = field(default_factory=set[Place], init=False, repr=False, compare=False)
    """Edits that do not change what a right solution gives, as the reference showed."""
    _seen_harmless: Counter[ids.Accepted] = field(
        default_factory=Counter[ids.Accepted], init=False, repr=False, compare=False
    )
    """How often the reference passed single rows of other edits."""

    def __post_init__(self) -> None:
        sealed.check_names(self.objects)
        if not self.editable:
            raise ValueError("a repository verifier needs editable paths")
        if not self.expected or len(set(self.expected)) != len(self.expected):
            raise ValueError("a repository verifier needs expected test ids, each of them once")
        for name in self.expected:
            if name.partition("::")[0] not in self.tests or "::" not in name:
                raise ValueError(f"expected: {name} is in none of the test files")
        if not self.roots:
            object.__setattr__(self, "roots", ids.roots_of(self.base))
        tops = ids.candidate_tops(self.base, self.tests, self.editable, roots=self.roots)
        shared = sorted(JUDGES.intersection(tops))
        if self.mode is Mode.SEALED and shared:
            raise ValueError(
                f"the judge itself imports {shared[0]}, which must not be the solution's; choose"
                ' mode = "as_written"'
            )
        if self.beside and self.mode is Mode.AS_WRITTEN:
            raise ValueError(
                'beside names exceptions to mode = "sealed"; as written there are none'
            )
        left = sorted(set(self.beside) - set(self.expected))
        if left:
            raise ValueError(f"beside: {left[0]} is none of the expected ids")
        if self.beside:
            object.__setattr__(self, "_both_parts", self._parts())
        if self.mode is Mode.AS_WRITTEN:
            functions = {ids.function_of(name) for name in self.expected}
            if not self._written(Random(0), functions).twins:
                raise ValueError(
                    "no test has an expectation that can be changed, so that nothing would show a"
                    ' forged result; choose mode = "sealed"'
                )

    @property
    def seal(self) -> Seal:
        """The separation that every verdict names."""
        sealed_all = self.mode is Mode.SEALED and not self.beside
        return Seal.SEALED if sealed_all else Seal.AS_WRITTEN

    def canary(self) -> str:
        """The base as it stands."""
        return pack_files({})

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Judge changed files. Raises VerifierFault where the problem has no reference."""
        if problem.reference is None:
            raise VerifierFault(
                "a repository task needs a reference; make it with pack_files(reference)"
            )
        try:
            tree, left_out = self._tree(completion)
        except RefusedFilesError as error:
            return invalid_verdict(str(error)[:400], seal=self.seal)
        if self.beside:
            return (yield from self._both(problem, completion))
        if self.mode is Mode.SEALED:
            return (yield from self._sealed(tree, left_out, problem.reference))
        return (yield from self._as_written(tree, left_out, problem.reference))

    def _parts(self) -> list[RepositoryVerifier]:
        """The verifiers of the sealed tests and of those beside them."""
        apart = tuple(name for name in self.expected if name not in self.beside)
        written_part = replace(self, expected=self.beside, mode=Mode.AS_WRITTEN, beside=())
        if not apart:
            return [written_part]
        return [replace(self, expected=apart, beside=()), written_part]

    def _both(self, problem: Problem, completion: str) -> Steps:
        """The sealed tests, and then, where they passed or each counts, those beside them."""
        cases: dict[str, CaseResult] = {}
        details: dict[str, Any] = {}
        verdict: Verdict | None = None
        for part in self._both_parts:
            found = yield from part.verify(problem, completion)
            if len(found.cases) != len(part.expected):
                return replace(found, seal=self.seal)
            cases |= dict(zip(part.expected, found.cases, strict=True))
            details |= found.details
            verdict = found if verdict is None or verdict.passed else verdict
            if not (verdict.passed or self.partial_credit):
                break
        assert verdict is not None
        skipped = CaseResult(False, "not run: a sealed test failed")
        listed = tuple(cases.get(name, skipped) for name in self.expected)
        share = sum(case.passed for case in listed) / len(listed)
        score = share if self.partial_credit else float(share == 1.0)
        details |= {"mode": "sealed and as_written", "beside": len(self.beside)}
        return replace(verdict, cases=listed, score=score, seal=self.seal, details=details)

    def _tree(self, completion: str) -> tuple[dict[str, bytes], tuple[str, ...]]:
        return lay(
            self.base, unpack_files(completion), editable=self.editable, roots=self.roots,
            reserved={path.partition("/")[0] for path in self.tests},
        )  # fmt: skip

    def _sealed(
        self, tree: Mapping[str, bytes], left_out: tuple[str, ...], reference: str
    ) -> Steps:
        tops = self._tops(reference)
        solution = sealed.SolutionTree(tree, self.roots, tops, (), self.preload)
        support = ids.support_files(self.base, self.tests, self.editable, tops=tops,
                                    roots=self.roots)  # fmt: skip
        fields: dict[str, Any] = {
            **self._fields(support),
            "files": {},
            "objects": self.objects,
            "wanted": self.expected,
        }
        pair = yield from self._pair(fields, solution)
        timed_out = [line for line in pair.lines if line[:2] == [None, "timeout"]]
        faults = [line for line in pair.lines if line[0] is None and line not in timed_out]
        bad = bad_ending(pair.judge)
        if faults or bad is not None:
            text = ", ".join(map(str, faults[0][1:])) if faults else bad[1] if bad else ""
            raise VerifierFault(f"the tests: {text[:600]}")
        results = ids.Results([line for line in pair.lines if line[0] is not None])
        stopped = (Status.TIMEOUT, "wall time limit reached") if timed_out else None
        cases = [self._case(results, name) for name in self.expected]
        details: dict[str, Any] = {"mode": "sealed", "left_out": list(left_out)}
        if results.unverified and stopped is None:
            right, _ = self._tree(reference)
            trial = ObjectTrial(self.tests, fields, self._barred)
            doubts = yield from trial.doubts(
                [name for name, case in zip(self.expected, cases, strict=True) if case.passed],
                results.unverified,
                lambda one: self._pair(one, solution),
                lambda one: self._pair(one, replace(solution, files=right)),
            )
            cases = [
                CaseResult(False, doubts.reasons[name]) if name in doubts.reasons else case
                for name, case in zip(self.expected, cases, strict=True)
            ]
            details |= {"unverified": list(doubts.unchecked)} if doubts.unchecked else {}
        return self._verdict(cases, pair.candidate, stopped or bad_ending(pair.candidate), details)

    def _pair(
        self, fields: Mapping[str, Any], solution: sealed.SolutionTree
    ) -> Generator[list[Job], Any, sealed.SealedPair]:
        return (
            yield from sealed.run_pair(
                "repository", fields, solution, limits=self.limits, preload=("pytest",)
            )
        )

    def _tops(self, reference: str) -> tuple[str, ...]:
        right, _ = self._tree(reference)  # it may add a package, whose name is its word alone
        return ids.candidate_tops(
            {**self.base, **right}, self.tests, self.editable, roots=self.roots
        )

    def _fields(self, files: Mapping[str, bytes]) -> dict[str, Any]:
        wanted = dict.fromkeys(name.partition("::")[0] for name in self.expected)
        return {
            "support": jobs.encode_files(files),
            "tests": list(wanted),
            "has_conftest": any(path.endswith("conftest.py") for path in files),
        }

    def _case(self, results: ids.Results, name: str) -> CaseResult:
        passed, reason = results.of(name)
        return CaseResult(passed, reason)

    def _written(self, random: Random, twinned: Collection[tuple[str, str]]) -> TwinSuite:
        wanted = [ids.function_of(name) for name in self.expected]
        sources = {path: self.tests[path] for path, _ in wanted}
        return written(sources, wanted, twinned, random=random, barred=self._barred)

    def _rounds(self, random: Random) -> list[TwinSuite]:
        """Pairs of suites: what is a twin in one is itself in the other."""
        functions = sorted({ids.function_of(name) for name in self.expected})
        suites: list[TwinSuite] = []
        for _ in range(rounds(len(functions))):
            twins = {one for one in functions if random.random() < 0.5}
            pair = [twins, set(functions) - twins]
            random.shuffle(pair)
            suites += [self._written(random, one) for one in pair]
        return suites

    def _as_written(
        self, tree: Mapping[str, bytes], left_out: tuple[str, ...], reference: str
    ) -> Steps:
        random, tops = Random(secrets.randbits(128)), self._tops(reference)
        whole = self._written(random, ())
        [outcome] = yield from self._run(tree, [whole], tops)
        results = ids.Results(jobs.result_lines(outcome.result), whole)
        cases = [self._case(results, name) for name in self.expected]
        details: dict[str, Any] = {"mode": "as_written", "twins": 0, "left_out": list(left_out)}
        stopped = bad_ending(outcome)
        if not any(case.passed for case in cases):
            return self._verdict(cases, outcome, stopped, details)
        suites = self._rounds(random)
        trial = WrittenTrial(self.expected, self._barred, self._seen_harmless)
        right, _ = self._tree(reference)
        doubts = yield from trial.doubts(
            suites,
            results,
            lambda some: self._run(tree, some, tops),
            lambda some: self._run(right, some, tops),
        )
        cases = [
            CaseResult(False, doubts.reasons[name]) if name in doubts.reasons else case
            for name, case in zip(self.expected, cases, strict=True)
        ]
        details |= {
            "twins": sum(len(suite.twins) for suite in suites),
            "untwinned": len(whole.untwinned),
            "weak_twins": [name for name in self.expected if ids.function_of(name) in whole.weak],
        }
        if doubts.accepted:
            details["accepted_twins"] = doubts.accepted
            name = next(iter(doubts.reasons))
            stopped = (Status.FAILED, f"{ids.function_of(name)[1]} {doubts.reasons[name]}")
        return self._verdict(cases, outcome, stopped, details)

    def _run(
        self, tree: Mapping[str, bytes], suites: Sequence[TwinSuite], tops: tuple[str, ...]
    ) -> Generator[list[Job], Any, list[Outcome]]:
        """A fresh process for each suite, which holds the packages and the tests."""
        own = {path: text.encode("utf-8", "surrogateescape") for path, text in self.tests.items()}
        files = {**tree, **own}
        profile = Profile(kind=Kind.PROGRAM, preload=("pytest",), site_packages=True)
        made: list[Job] = []
        for suite in suites:
            fields: dict[str, Any] = {
                **self._fields({**files, **dict.fromkeys(suite.sources, b"")}),
                "files": {},
                "modules": {},
                "as_written": True,
                "roots": self.roots,
                "packages": tops,
                "sources": dict(suite.sources),
                "functions": suite.functions,
            }
            made.append(jobs.judge("repository", fields, limits=self.limits, profile=profile))
        outcomes = yield made
        for outcome in outcomes:
            require_sandbox(outcome)
        return list(outcomes)

    def _verdict(
        self,
        cases: list[CaseResult],
        outcome: Outcome,
        stopped: tuple[Status, str] | None,
        details: dict[str, Any],
    ) -> Verdict:
        share = sum(case.passed for case in cases) / len(cases)
        score = share if self.partial_credit else float(share == 1.0)
        status = Status.PASSED if share == 1.0 else Status.FAILED
        reason = ""
        if status is Status.FAILED:
            named = zip(self.expected, cases, strict=True)
            reason = next(f"{name}: {case.reason}" for name, case in named if not case.passed)
        if stopped is not None and (status is Status.FAILED or "accepted_twins" in details):
            status, reason, score = stopped[0], stopped[1], 0.0
        judged = (status, reason[:400])
        verdict = verdict_of(outcome, judged, score=score, cases=cases, seal=self.seal)
        return replace(verdict, details=details)
