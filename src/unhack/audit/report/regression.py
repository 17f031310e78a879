"""Findings as a file of pytest tests, each of which fails while its hole is open.

A test loads the verifier anew, scores the stored completion in the sandbox and compares the score
with what was enough to pass. Honest completions of the same problems become tests too: a verifier
that rejects everything is not fixed.

Covered: targets and problems given as paths are found from wherever pytest is started.
Not covered: import paths; they must be importable where the tests run.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unhack.audit.report.flaws import FLAWS
from unhack.audit.report.report import AuditReport
from unhack.audit.report.wording import ranked
from unhack.core.finding import Finding
from unhack.reporting.text import one_line

_HEAD = '''\
"""Regression tests for an audited verifier, written by `unhack audit --write-tests`.

Each test gives the verifier one completion, inside the sandbox. The completions of the tests
`test_closed_*` are proven to be wrong: such a test fails while the verifier rewards its one.
"""

import os
from contextlib import closing
from pathlib import Path

import pytest

from unhack.audit.subject import Query
from unhack.audit.subjects.loading import FunctionInputs, load_subject
from unhack.sandbox.pool.pool import Pool

HERE = Path(__file__).resolve().parent
TARGET = {target}
PROBLEMS = {problems}
SIGNATURE = {signature}
INPUTS = FunctionInputs(bind={bind}, environ={{{environ}}})


@pytest.fixture(scope="module")
def subject():
    with closing(Pool()) as backend:
        yield load_subject(
            TARGET, problems=PROBLEMS, signature=SIGNATURE, inputs=INPUTS, backend=backend
        )


def score(subject, problem, completion):
    known = {{item.id: item for item in subject.problems}}
    assert problem in known, f"problem {{problem!r}} no longer exists; regenerate these tests"
    return subject.score([Query(known[problem], completion)])[0]
'''

_CLOSED = """

def test_closed_{name}(subject):
    completion = {completion}
    found = score(subject, {problem}, completion)
    assert not found.at_least({threshold}), (
        f"rewarded with {{found.value}} although wrong:"
        {why}
        {fix}
    )
"""

_OPEN = """

def test_still_right_{name}(subject):
    completion = {completion}
    found = score(subject, {problem}, completion)
    assert found.at_least({threshold}), f"{{found.value}} {{found.trouble}} {{found.reason}}"
"""


@dataclass(frozen=True, slots=True)
class AuditedTarget:
    """The name of the audited verifier, as the user gave it."""

    target: str
    problems: Path | None = None
    signature: str | None = None
    bind: Mapping[str, str] = field(default_factory=dict[str, str])
    variables: Sequence[str] = ()
    """Names of variables of the environment: their values may be secret, so the tests read them."""


def write_tests(report: AuditReport, origin: AuditedTarget, *, folder: Path) -> Path | None:
    """Write the tests into `folder`, which is made if it is not there.

    None, and no file, when there is no finding whose witness passes alone. A file of an earlier
    audit is replaced.
    """
    if not _alone(report):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"test_audit_{_slug(origin.target)}.py"
    path.write_text(regression_tests(report, origin, folder=folder), encoding="utf-8")
    return path


def regression_tests(report: AuditReport, origin: AuditedTarget, *, folder: Path) -> str:
    """The text of the file; paths in it are relative to `folder`, where it is to lie."""
    head = _HEAD.format(
        target=_target(origin.target, folder),
        problems="None" if origin.problems is None else _here(origin.problems, folder),
        signature=ascii(origin.signature),
        bind=ascii(dict(origin.bind)),
        environ="".join(f"{one!a}: os.environ[{one!a}], " for one in origin.variables),
    )
    return head + "".join((*_closed_tests(report), *_open_tests(report)))


def _alone(report: AuditReport) -> list[Finding]:
    """The findings that one completion shows."""
    return [finding for finding in report.findings if finding.after is None]


def _closed_tests(report: AuditReport) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for finding in ranked(_alone(report)):
        seen[finding.flaw] += 1
        count = seen[finding.flaw]
        why = f" {one_line(finding.evidence.text, most=300)}."
        yield _CLOSED.format(
            name=finding.flaw + (f"_{count}" if count > 1 else ""),
            completion=_literal(finding.witness),
            problem=ascii(finding.problem),
            threshold=_number(finding.threshold),
            why=ascii(why),
            fix=ascii(f" {FLAWS[finding.flaw].title}. {finding.fix}"),
        )


def _open_tests(report: AuditReport) -> Iterator[str]:
    marks: dict[str, Finding] = {}
    for finding in _alone(report):
        marks.setdefault(finding.problem, finding)
    honest = dict.fromkeys((pair.problem, pair.clean) for pair in report.pairs)
    known = [(problem, text) for problem, text in honest if problem in marks]
    for number, (problem, text) in enumerate(known, start=1):
        yield _OPEN.format(
            name=number,
            completion=_literal(text),
            problem=ascii(problem),
            threshold=_number(marks[problem].threshold),
        )


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else f'float("{value}")'


def _literal(text: str) -> str:
    """The text as Python, one line of it on each line."""
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return ascii(text)
    return "(\n" + "".join(f"        {line!a}\n" for line in lines) + "    )"


def _here(path: Path, folder: Path) -> str:
    return f"HERE / {os.path.relpath(path, folder)!a}"


def _target(target: str, folder: Path) -> str:
    """As Python: relative to the test file where it is a path, else as it was given."""
    path, colon, name = target.rpartition(":")
    if colon and Path(path).exists():
        return f"str({_here(Path(path), folder)}) + {colon + name!a}"
    if Path(target).exists():
        return f"str({_here(Path(target), folder)})"
    return ascii(target)


def _slug(target: str) -> str:
    bare = target.replace(".py:", ":").removesuffix(".py")
    return re.sub(r"[^a-z0-9]+", "_", bare.lower()).strip("_") or "verifier"
