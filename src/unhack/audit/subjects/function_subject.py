"""A reward function as a subject: each call in a fresh fork inside the sandbox, as it was written.

Covered: Python functions, methods and scripts; the folder of a file target is mounted read-only,
installed packages are visible, missing heavy ones are replaced (`reward.stub_modules`). The
auditor's environment and other files are not visible, and there is no network.
Not covered: keeping a completion that the function executes away from the function; that is what an
audit looks for.
"""

from __future__ import annotations

import ast
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from unhack.audit.subject import AuditProblem, Query, Score, Source
from unhack.audit.subjects.call_plans import plan_call
from unhack.audit.subjects.row_shapes import settings_of
from unhack.audit.subjects.signatures import Signature
from unhack.audit.subjects.target import Module, Target
from unhack.core import plain
from unhack.core.completion import Extraction, extract_code
from unhack.core.errors import SandboxUnavailableError, UsageError
from unhack.core.hashing import content_hash
from unhack.sandbox.job import (
    Backend,
    Ending,
    Job,
    Kind,
    Outcome,
    Profile,
    Role,
    run_all,
    run_one,
)
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.pool.shared import shared_pool
from unhack.verifiers import jobs

LIMITS = Limits(wall_s=15.0, cpu_s=20.0, memory_bytes=2048 * MIB, processes=64)
"""Limits of one call."""
_LOAD = LIMITS.with_(wall_s=120.0, cpu_s=120.0)
_OFTEN = frozenset(
    """PIL aiohttp httpx latex2sympy2_extended math_verify nltk numpy pandas pydantic regex requests
    scipy sympy tqdm yaml""".split()  # noqa: SIM905
)
"""Packages that can be imported before everything else, and are worth it."""
_TRIES: tuple[tuple[str, ...], ...] = ((), ("slice",))
"""Ways to load: all; where a module brings the process down, only what the entry needs."""
_INSIDE = "/target"
_WARM = (
    "ast",
    "asyncio",
    "inspect",
    "io",
    "runpy",
    "tempfile",
    "traceback",
    "unittest.mock",
    "unhack.sandbox.guest.reward.multiprocessing_stand_in",
)
"""Modules of the standard library that graders and their loading need."""
_MAX_ENTRIES = 100
_SKIPPED = frozenset({"__pycache__", "node_modules", "venv", "site-packages"})
_BESIDE_SCRIPT = (
    "reference.py", "prompt.md", "task.toml", "oracle.py", "generator.py", "right", "wrong",
    "*.md", "problems.jsonl",
)  # fmt: skip
_BESIDE_FUNCTION = ("*.jsonl", "*.md", "*.toml")
_HOME = "/scratch/work"


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
    backend: Backend | None = field(default=None, compare=False)

    @property
    def sees_answer(self) -> bool:
        """True when the signature hands it an answer that the source reads."""
        return self.script is not None or self.signature.sees_answer

    @property
    def source(self) -> Source | None:
        """The module that defines the function."""
        module = self.target.defined_in
        return Source(str(module.path), module.text, entry=self.target.entry)

    @property
    def fingerprint(self) -> str:
        """Changes with the source, its entry, the signature or a problem."""
        problems = json.dumps([repr(problem) for problem in self.problems])
        texts = (self.target.module.text, self.target.defined_in.text, self.target.entry)
        return content_hash(*texts, _stable(self.signature), repr(self.script), problems)

    def score(self, queries: Sequence[Query]) -> list[Score]:
        """See `Subject`. Raises SandboxUnavailableError, UsageError when it cannot be loaded."""
        if not queries:
            return []
        profile = replace(self._profile, preload=(*_WARM, *self.loaded.preload))
        batch = [self._job(query, profile) for query in queries]
        outcomes = run_all(self.backend or shared_pool(), [job for job, _ in batch])
        return [
            read_outcome(outcome, nonce)
            for outcome, (_, nonce) in zip(outcomes, batch, strict=True)
        ]

    def with_limit(self, wall_s: float) -> FunctionSubject:
        """See `Subject`. What is known of how it loads is kept."""
        fewer = replace(self, limits=self.limits.with_(wall_s=wall_s, cpu_s=wall_s))
        fewer.__dict__.update(loaded=self.loaded, _settings=self._settings)
        return fewer

    def lines_of(self, query: Query) -> frozenset[int]:
        """See `Subject`."""
        module = self.target.defined_in
        if not self.target.entry:
            return frozenset()
        profile = replace(self._profile, preload=(*_WARM, *self.loaded.preload))
        job, nonce = self._job(query, profile, trace=str(module.path.relative_to(module.root)))
        outcome = run_one(self.backend or shared_pool(), job)
        for line in jobs.result_lines(outcome.result):
            if line[0] == nonce and line[1] == "lines":
                return frozenset(line[2])
        return frozenset()

    @cached_property
    def loaded(self) -> _Loaded:
        """The way in which the function loads, found by loading it once.

        Raises UsageError with the function's own complaint."""
        ended = ""
        for ways in _TRIES:
            nonce = secrets.token_hex(8)
            fields = {"nonce": nonce, "target": self._message, "how": None, "ways": ways}
            job = jobs.judge("reward", fields, limits=_LOAD, profile=self._profile)
            outcome = run_one(self.backend or shared_pool(), job)
            require_host(outcome)
            for line in jobs.result_lines(outcome.result):
                if line[0] == nonce and line[1] == "loaded":
                    loaded = _Loaded(
                        line[2], tuple(line[3]), tuple(filter(None, [ended, *line[4]]))
                    )
                    return replace(loaded, preload=self._that_start(loaded))
                if line[0] == nonce:
                    raise UsageError(f"{self.name} cannot be loaded: {line[3]}")
            ended = f"its process ended ({outcome.limit or outcome.exit_code or outcome.signal})"
        raise UsageError(f"{self.name} cannot be loaded: {ended}")

    def _that_start(self, loaded: _Loaded) -> tuple[str, ...]:
        """The packages to preload: one that cannot be, in a worker, is imported by each
        call."""
        often = tuple(name for name in loaded.preload if name in _OFTEN)
        inner = self._imported_inside()
        for names in dict.fromkeys(((*loaded.preload, *inner), (*often, *inner), often, ())):
            profile = replace(self._profile, preload=(*_WARM, *names))
            fields = {"nonce": "", "target": {**self._message, "entry": ""}, "how": None}
            job = jobs.judge("reward", fields, limits=_LOAD, profile=profile)
            if run_one(self.backend or shared_pool(), job).ending is Ending.EXITED:
                return names
        return ()

    def _imported_inside(self) -> tuple[str, ...]:
        """Packages that the module imports somewhere, also in functions: once is enough."""
        tops: set[str] = set()
        for node in ast.walk(self.target.defined_in.tree):
            if isinstance(node, ast.Import):
                tops |= {item.name.partition(".")[0] for item in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                tops.add(node.module.partition(".")[0])
        return tuple(name for name in sorted(tops & _OFTEN) if find_spec(name) is not None)

    @cached_property
    def _settings(self) -> dict[str, Any]:
        return settings_of(self.target)

    @cached_property
    def _profile(self) -> Profile:
        hidden = _BESIDE_SCRIPT if self.script is not None else _BESIDE_FUNCTION
        module = self.target.module
        binds = () if module.installed else folder_binds(module, hidden)
        return Profile(
            kind=Kind.PROGRAM, role=Role.JUDGE, site_packages=True, preload=_WARM, binds=binds
        )

    @cached_property
    def _message(self) -> dict[str, Any]:
        module = self.target.module
        root = str(module.root) if module.installed else _INSIDE
        return {
            "module": module.name,
            "path": f"{root}/{module.path.relative_to(module.root)}",
            "root": root,
            "entry": self.target.entry,
            "factory": self.signature.factory,
            "installed": module.installed,
        }

    def _job(self, query: Query, profile: Profile, *, trace: str = "") -> tuple[Job, str]:
        nonce = secrets.token_hex(8)
        fields: dict[str, Any] = {
            "nonce": nonce, "target": self._message, "how": self.loaded.how, "trace": trace,
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
        profile = replace(self._profile, preload=(*_WARM, *self.loaded.preload))
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
        paths.append(f"{_INSIDE}/{self.script.cases}" if self.script.cases else "")
        taken = paths[: len(self.signature.positional)]
        args: list[Any] = [["data", path] for path in taken] if self.target.entry else paths
        return {
            "files": {self.script.solution: query.completion if code is None else code},
            "beside": _INSIDE,
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


def require_host(outcome: Outcome) -> None:
    """Raise SandboxUnavailableError when the host cannot isolate such jobs."""
    if outcome.ending in (Ending.REFUSED, Ending.BROKEN):
        raise SandboxUnavailableError(f"the audit needs the sandbox: {outcome.error}")


def read_outcome(outcome: Outcome, nonce: str) -> Score:
    """The score of one call. Raises SandboxUnavailableError."""
    if outcome.ending is Ending.REFUSED:
        require_host(outcome)
    seconds = outcome.wall_s
    for line in jobs.result_lines(outcome.result):
        if line[0] != nonce or len(line) < 3:
            continue
        if line[1] == "score":
            return Score(float(plain.decode_tags(line[2])), seconds=seconds)
        if line[1] == "raised":
            reason = f"{line[2][0]}: {line[3]}" if line[2] else str(line[3])
            return Score(None, "raised", reason[:300], seconds)
        if line[1] == "shape":
            return Score(None, "shape", str(line[2])[:300], seconds)
    if outcome.ending is Ending.LIMIT:
        trouble = "timeout" if outcome.limit in {"wall", "cpu"} else "limit"
        return Score(None, trouble, f"{outcome.limit} limit reached", seconds)
    if outcome.ending is Ending.SIGNALED:
        return Score(None, "ended", f"ended by signal {outcome.signal}", seconds)
    text = f"the process ended with code {outcome.exit_code} before there was a score"
    return Score(None, "ended", text, seconds)


def folder_binds(module: Module, hidden: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """(host path, path inside) of what of a target's folder is mounted.

    All but dot files and what a pattern of `hidden` matches, in a crowded folder nothing; and
    whatever the module names.
    """
    words = set(_names_in(module))
    entries = [
        path
        for path in sorted(module.root.iterdir())
        if not path.name.startswith(".") and path.name not in _SKIPPED and path.exists()
    ]
    top = module.root / Path(module.path.relative_to(module.root).parts[0])
    crowded = len(entries) > _MAX_ENTRIES
    entries = [
        path
        for path in entries
        if path.name in words or not (crowded or any(path.match(pattern) for pattern in hidden))
    ]
    if top not in entries:
        entries.append(top)
    return tuple((str(path), f"{_INSIDE}/{path.name}") for path in entries)


def _names_in(module: Module) -> Iterator[str]:
    """Names of files that a module imports, or whose path stands in it as text."""
    for node in ast.walk(module.tree):
        tops: list[str] = []
        if isinstance(node, ast.Import):
            tops = [item.name.partition(".")[0] for item in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            tops = [node.module.partition(".")[0]]
        for top in tops:
            yield from (top, f"{top}.py")
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from node.value.strip("/").split("/")[:20]
