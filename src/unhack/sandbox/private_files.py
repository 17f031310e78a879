"""The rule by which a program gets a private writable directory: its text names what needs one.

Such a directory makes a job dearer by a quarter, and few programs write files. Decided from the
text alone, before anything runs: a program that is found to need one has one from its first line.

Covered: `open` and its kin on anything but a standard stream, temporary files, databases, folders.
Not covered: names put together at run time (such a program finds nothing writable); completions of
function tasks, whose author says so (`scratch`).
"""

from __future__ import annotations

from dataclasses import replace

from unhack.core.lines import BoundedPattern
from unhack.sandbox.job import Job, Kind

_NEEDS = BoundedPattern(
    r"\bopen\s*\((?!\s*(?:[)]|(?:file\s*=\s*)?(?:[012]\b|sys\s*\.\s*_*std|['\"]/dev/|['\"]/proc/)))"
    r"|\bas\s+open\b|=\s*(?:io\.|os\.)?open\b(?!\s*[(])"
    r"|tempfile|mkstemp|mkdir|makedirs|mkfifo|symlink|\bshelve\b|\bdbm\b|sqlite3|\bshutil\b|pathlib"
    r"|write_text|write_bytes|FileHandler|fileConfig|zipfile|tarfile|\b__file__\b|os\.environ"
    r"|\b(?:listdir|scandir|walk|glob|getcwd|chdir|expanduser|cwd)\s*\("
)


def needs_files(source: str) -> bool:
    """True for a source that names what makes, reads or lists files."""
    return _NEEDS.is_in(source)


def with_files(job: Job, source: str) -> Job:
    """`job`, with a private directory where its source needs one and the host can give one."""
    profile = job.profile
    if profile.kind is not Kind.FUNCTION or not needs_files(source):
        return job
    return replace(job, profile=replace(profile, kind=Kind.SCRATCH), fallback=profile)
