"""A reward function as a subject: each call in a fresh fork inside the sandbox, as it was written.

Covered: Python functions, methods and scripts; the folder of a file target is mounted read-only,
installed packages are visible, missing heavy ones are replaced (`reward.stub_modules`). The
auditor's environment and other files are not visible, and there is no network.
Not covered: keeping a completion that the function executes away from the function; that is what an
audit looks for.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any, cast

from unhack.audit.subject import AuditProblem, Query, Score, Source
from unhack.audit.subjects.call_plans import plan_call
from unhack.audit.subjects.imported_modules import file_names_in, source_of
from unhack.audit.subjects.outcomes import TrialRuns, read_outcome, require_host
from unhack.audit.subjects.recording import recordable
from unhack.audit.subjects.row_shapes import settings_of
from unhack.audit.subjects.signatures import Signature, is_about_form
from unhack.audit.subjects.target import (
    INSIDE,
    Target,
    folder_binds,
    grader_python,
    imported_tops,
)
from unhack.core import plain
from unhack.core.completion import Extraction, extract_code
from unhack.core.errors import UsageError
from unhack.core.hashing import content_hash
from unhack.sandbox.job import (
    TIME_LIMITS,
    Backend,
    Ending,
    Job,
    Kind,
    Profile,
    Role,
    run_all,
    run_one,
)
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.pool.pool import shared_pool
from unhack.verifiers import jobs

LIMITS = Limits(wall_s=15.0, cpu_s=20.0, memory_bytes=2048 * MIB, processes=64)
"""Limits of one call."""
_OFTEN = frozenset(
    """PIL aiohttp httpx latex2sympy2_extended math_verify nltk numpy pandas pydantic regex requests
    scipy sympy tqdm yaml""".split()  # noqa: SIM905
)
"""Packages that can be imported before everything else, and are worth it."""
_TRIES: tuple[tuple[str, ...], ...] = ((), ("slice",))
"""Ways to load: all; where a module brings the process down, only what the entry needs."""
_WARM = (
    "ast",
    "asyncio",
    "inspect",
    "io",
    "runpy",
    "tempfile",
    "traceback",
    "unittest.mock",
    "unhack.sandbox.guest.reward.multiprocessing_shim",
)
"""Modules of the standard library that graders and their loading need."""
_STANDARD = frozenset(
    """bisect collections contextlib copy csv datetime decimal difflib fractions functools hashlib
    heapq html itertools json math numbers operator random re statistics string textwrap types
    typing unicodedata""".split()  # noqa: SIM905
)
"""Modules that graders import, and that change nothing until they are used."""
_BESIDE_SCRIPT = (
    "reference.py", "prompt.md", "task.toml", "oracle.py", "generator.py", "right", "wrong",
    "*.md", "problems.jsonl",
)  # fmt: skip
_BESIDE_FUNCTION = ("*.jsonl", "*.md", "*.toml")
_HOME = "/scratch/work"
_KEPT = ("loaded", "_settings", "_source", "_profile", "_message", "_warm")
"""Facts that are found out once of a function, whatever its problems, limits and backend are."""


@dataclass(frozen=True)
class Script:
    """The arguments of a verifier script in the usual style."""

    solution: str = "solution.py"
    cases: str = ""
    """Name of the file of cases in the script's folder; empty when there is none."""


@dataclass(frozen=True)
class _Loaded:
    how: str
    preload: tuple[str, ...]
    failures: tuple[str, ...]


@dataclass(frozen=True)
class FunctionSubject:
    """A Python function that scores completions."""

    name: str
    target: Target
    signature: Signature
    problems: tuple[AuditProblem, ...]
    script: Script | None = None
    """Set for `verify(solution_path, test_cases_path)`; the completion's code becomes a file."""
    limits: Limits = LIMITS
    load_s: float = 60.0
    """Most seconds that loading may take."""
    backend: Backend | None = field(default=None, compare=False)
    of: int = 0
    """The number of problems that there are; 0 where `problems` holds them all."""
    text: str = ""
    """Source that runs in place of the file's own (`source`); empty for that."""
    ways: tuple[tuple[str, ...], ...] = _TRIES
    """The ways to load it (`reward.modules`), tried process by process; none is all of them."""
    environ: tuple[tuple[str, str], ...] = ()
    """Variables of the environment that the function reads; it sees no other of the auditor's."""
    assumed: tuple[str, ...] = ()
    """Facts that nobody said of it and that were found by trying, in sentences without an end."""
    runs: TrialRuns = field(default_factory=TrialRuns, compare=False)
    """The runs by which its inputs were found."""
    drilled: bool = False
    """True where it came without rows, so that problems of the audit's own stand in for them."""
    row_known: bool = False
    """True where trying showed that it is given what its row's answer follows from."""

    @property
    def of_problems(self) -> int:
        """See `Subject`."""
        return self.of or len(self.problems)

    @property
    def sees_answer(self) -> bool:
        """True when the signature hands it an answer that the source reads, or a further column of
        problems whose completions are programs: those are wrong by what they do."""
        if self.script is not None or self.signature.sees_answer or self.row_known:
            return True
        return self._takes(one for one in self.problems if one.is_code)

    @property
    def takes_row(self) -> bool:
        """True when it takes a column of its rows, whatever that is, and its name is not about
        form."""
        return self._takes(self.problems)

    def _takes(self, rows: Iterable[AuditProblem]) -> bool:
        shape = self.signature
        taken = {*shape.positional, *shape.keywords, *shape.columns}
        given = {name for one in rows for name in one.extra}
        return bool(taken & given) and not is_about_form(self.target.entry)

    @property
    def source(self) -> Source | None:
        """The module that defines the function, with those of its own that it imports."""
        return replace(self._source, text=self.text) if self.text else self._source

    @cached_property
    def _source(self) -> Source:
        return source_of(self.target.defined_in, entry=self.target.entry)

    @property
    def fingerprint(self) -> str:
        """Changes with the source, its entry, the signature or a problem."""
        problems = json.dumps([repr(problem) for problem in self.problems])
        own = self.text or self.target.defined_in.text
        texts = (self.target.module.text, own, self.target.entry)
        called = (_stable(self.signature), repr(self.script), repr(self.environ))
        return content_hash(*texts, *called, problems)

    def score(self, queries: Sequence[Query]) -> list[Score]:
        """See `Subject`. Raises SandboxUnavailableError, UsageError when it cannot be loaded."""
        if not queries:
            return []
        profile = replace(self._profile, preload=(*self._warm, *self.loaded.preload))
        batch = [self._job(query, profile) for query in queries]
        outcomes = run_all(self.backend or shared_pool(), [job for job, _ in batch])
        return [
            read_outcome(outcome, nonce)
            for outcome, (_, nonce) in zip(outcomes, batch, strict=True)
        ]

    def with_limit(self, wall_s: float) -> FunctionSubject:
        """See `Subject`."""
        return self._kept(limits=self.limits.with_(wall_s=wall_s, cpu_s=wall_s))

    def with_backend(self, backend: Backend | None) -> FunctionSubject:
        """See `Subject`."""
        return self._kept(backend=backend)

    def with_text(self, text: str) -> FunctionSubject:
        """The same function with another text of its source, which runs in place of the file."""
        other = self._kept(text=text)
        other.__dict__.pop("_message", None)
        return other

    def with_problems(self, problems: Sequence[AuditProblem]) -> FunctionSubject:
        """The same function on other problems."""
        return self._kept(problems=tuple(problems))

    def with_inputs(self, signature: Signature, **found: Any) -> FunctionSubject:
        """The same function, called otherwise; `found` are fields that trying showed (`problems`,
        `assumed`, `row_known`)."""
        return self._kept(signature=signature, **found)

    def _kept(self, **changes: Any) -> FunctionSubject:
        """A copy with some fields changed. What is known of how it loads is kept."""
        other = replace(self, **changes)
        known = {name: self.__dict__[name] for name in _KEPT if name in self.__dict__}
        other.__dict__.update(known)
        return other

    def lines_of(self, query: Query) -> frozenset[int]:
        """See `Subject`."""
        module = self.target.defined_in
        if not self.target.entry:
            return frozenset()
        profile = replace(self._profile, preload=(*self._warm, *self.loaded.preload))
        job, nonce = self._job(query, profile, trace=str(module.path.relative_to(module.root)))
        outcome = run_one(self.backend or shared_pool(), job)
        for line in jobs.result_lines(outcome.result):
            if line[0] == nonce and line[1] == "lines":
                return frozenset(line[2])
        return frozenset()

    def record(self, problems: Sequence[AuditProblem]) -> list[str]:
        """The calls that the function makes of each problem's first correct program, as lines of
        JSON (`sandbox.guest.reward.recorder`); empty where there are none.

        Raises SandboxUnavailableError."""
        profile = replace(self._profile, preload=(*self._warm, *self.loaded.preload))
        path = f"{_HOME}/.recorded-{secrets.token_hex(4)}"
        batch = [
            self._job(Query(one, recordable(one.correct[0], path)), profile, record=path)
            for one in problems
        ]
        outcomes = run_all(self.backend or shared_pool(), [job for job, _ in batch])
        found: list[str] = []
        for outcome, (_, nonce) in zip(outcomes, batch, strict=True):
            require_host(outcome)
            lines = jobs.result_lines(outcome.result)
            noted = (str(one[2]) for one in lines if one[:2] == [nonce, "recorded"])
            found.append(next(noted, ""))
        return found

    @cached_property
    def loaded(self) -> _Loaded:
        """The way in which the function loads, found by loading it once.

        Raises UsageError with the function's own complaint."""
        ended = ""
        for ways in self.ways:
            nonce = secrets.token_hex(8)
            fields = {"nonce": nonce, "target": self._message, "how": None, "ways": ways}
            job = jobs.judge("reward", fields, limits=self._load_limits, profile=self._profile)
            outcome = run_one(self.backend or shared_pool(), job)
            require_host(outcome)
            if outcome.limit in TIME_LIMITS or outcome.ending is Ending.STOPPED:
                stopped = outcome.ending is Ending.STOPPED
                seconds = round(outcome.wall_s, 1) if stopped else self.load_s
                raise UsageError(
                    f"{self.name} cannot be loaded: its import did not finish within "
                    f"{seconds:g} s; move what it waits for into the function"
                    + ", or give the audit more time"
                    * stopped
                )
            for line in jobs.result_lines(outcome.result):
                if line[0] == nonce and line[1] == "loaded":
                    loaded = _Loaded(
                        line[2], tuple(line[3]), tuple(filter(None, [ended, *line[4]]))
                    )
                    return replace(loaded, preload=self._that_start(loaded))
                if line[0] == nonce:
                    raise UsageError(f"{self.name} cannot be loaded: {line[3]}")
            code = f"signal {outcome.signal}" if outcome.signal else f"code {outcome.exit_code}"
            ended = f"its process ended ({outcome.limit or code})"
        raise UsageError(f"{self.name} cannot be loaded: {ended}")

    def _that_start(self, loaded: _Loaded) -> tuple[str, ...]:
        """The packages to preload: one that cannot be, in a worker, is imported by each
        call."""
        often = tuple(name for name in loaded.preload if name in _OFTEN)
        inner = self._imported_inside()
        for names in dict.fromkeys(((*loaded.preload, *inner), (*often, *inner), often, ())):
            profile = replace(self._profile, preload=(*self._warm, *names))
            fields = {"nonce": "", "target": {**self._message, "entry": ""}, "how": None}
            job = jobs.judge("reward", fields, limits=self._load_limits, profile=profile)
            if run_one(self.backend or shared_pool(), job).ending is Ending.EXITED:
                return names
        return ()

    def _imported_inside(self) -> tuple[str, ...]:
        """Packages that the module imports somewhere, also in functions: once is enough."""
        often = sorted(imported_tops(self.target.defined_in.tree) & _OFTEN)
        return tuple(name for name in often if find_spec(name) is not None)

    @property
    def _load_limits(self) -> Limits:
        return LIMITS.with_(wall_s=self.load_s, cpu_s=self.load_s)

    @cached_property
    def _settings(self) -> dict[str, Any]:
        return settings_of(self.target)

    @cached_property
    def _warm(self) -> tuple[str, ...]:
        """The modules that are imported before everything else."""
        return (*_WARM, *sorted(imported_tops(self.target.defined_in.tree) & _STANDARD))

    @cached_property
    def _profile(self) -> Profile:
        hidden = _BESIDE_SCRIPT if self.script is not None else _BESIDE_FUNCTION
        module = self.target.module
        named = file_names_in(module)
        binds = () if module.installed else folder_binds(module, hidden, named=named)
        binds += grader_python()[1]
        return Profile(
            kind=Kind.PROGRAM, role=Role.JUDGE, site_packages=True, preload=self._warm, binds=binds
        )

    @cached_property
    def _message(self) -> dict[str, Any]:
        module, own = self.target.module, self.target.defined_in
        root, defined = module.root_inside, f"{own.root_inside}/{own.path.relative_to(own.root)}"
        return {
            "edited": [defined, self.text] if self.text else None,
            "module": module.name,
            "path": f"{root}/{module.path.relative_to(module.root)}",
            "root": root,
            "entry": self.target.entry,
            "factory": self.signature.factory,
            "installed": module.installed,
            "executable": grader_python()[0],
            "environ": dict(self.environ),
        }

    def _job(
        self, query: Query, profile: Profile, *, trace: str = "", record: str = ""
    ) -> tuple[Job, str]:
        nonce = secrets.token_hex(8)
        fields: dict[str, Any] = {
            "nonce": nonce, "target": self._message, "how": self.loaded.how, "trace": trace,
            "record": record,
        }  # fmt: skip
        fields |= self.step(query)
        return jobs.judge("reward", fields, limits=self.limits, profile=profile), nonce

    def session(
        self, steps: Sequence[Mapping[str, Any]], *, fields: Mapping[str, Any], wall_s: float
    ) -> tuple[Job, str]:
        """A job that takes several steps in one process (`reward.session`), and the nonce
        of its lines."""
        nonce = secrets.token_hex(8)
        common = {"nonce": nonce, "target": self._message, "how": self.loaded.how}
        profile = replace(self._profile, preload=(*self._warm, *self.loaded.preload))
        limits = self.limits.with_(wall_s=wall_s, cpu_s=2 * wall_s)
        message = {**common, "steps": list(steps), **fields}
        return jobs.judge("session", message, limits=limits, profile=profile), nonce

    def step(self, query: Query) -> dict[str, Any]:
        """The fields of a message that differ from query to query."""
        if self.script is None:
            plan = plan_call(self.signature, query.problem, query.completion)
            return {"plan": plain.encode_tags({**plan, "settings": self._settings})}
        code = extract_code(query.completion, how=Extraction.AUTO)
        paths = [f"{_HOME}/{self.script.solution}"]
        paths.append(f"{INSIDE}/{self.script.cases}" if self.script.cases else "")
        taken = paths[: len(self.signature.positional)]
        args: list[Any] = [["data", path] for path in taken] if self.target.entry else paths
        return {
            "files": {self.script.solution: query.completion if code is None else code},
            "beside": INSIDE,
            "plan": {"args": args, "kwargs": {}, "prints": True},
        }


def _stable(signature: Signature) -> str:
    """The signature as text that no hash seed changes: the order of a set differs by process."""
    values = [(item.name, getattr(signature, item.name)) for item in fields(signature)]
    return repr(
        [
            (name, sorted(cast("frozenset[str]", value)) if isinstance(value, frozenset) else value)
            for name, value in values
        ]
    )
