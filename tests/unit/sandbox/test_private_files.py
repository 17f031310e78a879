from __future__ import annotations

import pytest

from unhack.sandbox.job import Job, Kind, Profile, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.sandbox.private_files import needs_files, with_files
from unhack.verifiers import jobs


@pytest.mark.parametrize(
    "source",
    [
        "open('out.txt', 'w')",
        "with open(name) as file: pass",
        "import tempfile",
        "from pathlib import Path",
        "os.makedirs('a/b')",
        "db = sqlite3.connect('a.db')",
        "print(__file__)",
        "os.listdir('.')",
        "codecs.open('x', 'r', 'utf-8')",
        "fopen = open",
        "open(file='x')",
    ],
)
def test_a_text_that_names_files_needs_them(source: str) -> None:
    assert needs_files(source)


@pytest.mark.parametrize(
    "source",
    [
        "print(sum(map(int, input().split())))",
        "data = open(0).read()",
        "data = open( 0, 'rb').read()",
        "out = open(1, 'w')",
        "data = open('/dev/stdin').read()",
        "import sys\nsys.stdin = open(sys.stdin.fileno())",
        "data = open(file=0).read()",
        "is_open = True",
        "def open_door(self): self.opened()",
        "account.open()",
    ],
)
def test_one_that_reads_standard_input_does_not(source: str) -> None:
    assert not needs_files(source)


def test_a_job_is_changed_only_where_it_needs_files_and_has_none() -> None:
    for kind, source, changed in (
        (Kind.FUNCTION, "open('x')", True),
        (Kind.FUNCTION, "print(1)", False),
        (Kind.SCRATCH, "open('x')", False),
        (Kind.PROGRAM, "open('x')", False),
    ):
        job = Job(b"", Limits(), Profile(kind=kind, preload=("json",)))
        made = with_files(job, source)
        assert (made.profile.kind is Kind.SCRATCH and made.fallback == job.profile) is changed
        assert made.profile.preload == ("json",)


def test_where_a_host_cannot_give_one_the_job_runs_without(pool: Pool) -> None:
    source = (
        "try:\n    open('t', 'w')\nexcept OSError:\n    print('none')\nelse:\n    print('one')\n"
    )
    job = jobs.main(source, stdin=b"", limits=Limits(), profile=Profile())
    outcome = run_one(pool, with_files(job, source))
    expected = b"none\n" if outcome.isolation.value == "landlock" else b"one\n"
    assert outcome.stdout == expected
