"""Minimality: the size of a change against the size of the reference's.

A change is as large as the words and signs of the lines that it adds and takes away, each 8 bytes
of a word counted as one: joined lines, short names and layout gain nothing. Lines are compared as a
multiset, in linear time: a hostile text costs the host nothing.

Covered: new modules at the top, which are handed in too; a change that is no larger than the
reference's scores 1, nothing done scores 1 too (the outcome says that nothing was done); caches and
other files that may not be handed in count for nothing.
Not covered: lines that only changed places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from unhack.environments.steps.score import StateFiles, StepScore
from unhack.environments.task import RepositoryTask
from unhack.verifiers.repository.files import is_helper

_WORD = bytes(byte for byte in range(256) if byte > 127 or chr(byte).isalnum() or byte == 95)
_BLANK = b" \t\n\r\x0b\x0c"
_WORDS_ONLY = bytes(byte if byte in _WORD else 32 for byte in range(256))
_WORD_BYTES = 8


def judge_minimality(task: RepositoryTask, before: StateFiles, after: StateFiles) -> StepScore:
    """1 up to the reference's size, then the reference's size divided by the change's."""
    wanted: dict[str, bytes] = {path: task.files[path] for path in task.files}
    for path, text in task.reference.items():
        if text is None:
            wanted.pop(path, None)
        else:
            wanted[path] = text.encode()
    reference = change_size(task, wanted)
    size = change_size(task, after)
    step = size - change_size(task, before)
    score = 1.0 if size <= reference else reference / size
    reason = f"a change of {size} words and signs, the reference's has {reference}"
    evidence = {"size": size, "reference": reference, "grown_by_step": step}
    return StepScore("minimality", score, reason, evidence)


def change_size(task: RepositoryTask, files: Mapping[str, bytes]) -> int:
    """The words and signs that files which are handed in add to the start and take away."""
    tests = {path.partition("/")[0] for path in task.tests}
    paths = {path for path in (*task.files, *files)
             if task.may_change(path) or is_helper(path, task.files, tests)}  # fmt: skip
    return sum(_changed(task.files.get(path, b""), files.get(path, b"")) for path in paths)


def _changed(old: bytes, new: bytes) -> int:
    if old == new:
        return 0
    was, now = Counter(old.splitlines()), Counter(new.splitlines())
    different = (was - now) + (now - was)
    return sum(count * _size(line) for line, count in different.items())


def _size(line: bytes) -> int:
    """The words and signs of a line; an empty one counts too."""
    words = sum(-(-len(word) // _WORD_BYTES) for word in line.translate(_WORDS_ONLY).split())
    return max(1, words + len(line.translate(None, _WORD + _BLANK)))
