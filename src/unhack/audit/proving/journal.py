"""The scores of an audit, kept in its run folder: an interrupted audit goes on where it stopped.

Every score is appended to `calls.jsonl` before it is used. The key is the subject's fingerprint,
the problem and the text, and how often that text was scored before, so that repetitions stay
repetitions.

Covered: what `store.run_folder` covers; a last line that was cut off is dropped.
Not covered: what a model said (`language_models.endpoint` keeps it beside the scores).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from unhack.audit.subject import Query, Score, Subject
from unhack.core.errors import UsageError
from unhack.core.hashing import content_hash
from unhack.store.run_folder import RunFolder

_CALLS, _SUBJECT = "calls.jsonl", "subject.json"


class ScoreJournal:
    """Scores a subject's queries, out of the folder where it has them already."""

    def __init__(self, subject: Subject, folder: Path | None) -> None:
        """Raises UsageError when the folder holds the calls of another subject, StoreError where
        it is in use or not accessible. Without a folder, scores are kept in memory alone."""
        self.subject = subject
        self.calls = 0
        """Runs of the verifier by this process; what came from the folder is not counted."""
        self.passed_on = 0
        self.slowest = 0.0
        """Seconds of the longest call."""
        self._turns: Counter[str] = Counter()
        self._known: dict[str, Score] = {}
        self._folder = None if folder is None else RunFolder(folder, kind="audit")
        if self._folder is not None:
            try:
                self._read(self._folder)
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """Give the folder to the next process. Harmless when closed."""
        if self._folder is not None:
            self._folder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def score(self, queries: Sequence[Query]) -> list[Score]:
        """As `Subject.score`."""
        keys = [self._key(query) for query in queries]
        fresh = [index for index, key in enumerate(keys) if key not in self._known]
        found = self.subject.score([queries[index] for index in fresh]) if fresh else []
        self.calls += len(fresh)
        self.passed_on += len(queries) - len(fresh)
        for index, score in zip(fresh, found, strict=True):
            self._known[keys[index]] = score
            self.slowest = max(self.slowest, score.seconds)
        self._append([(keys[index], self._known[keys[index]]) for index in fresh])
        return [self._known[key] for key in keys]

    def find(self, key: str, *, count: int) -> list[Score] | None:
        """The scores that `note` was given under a key; None where the folder has not all."""
        found = [self._known.get(f"{key}:{number}") for number in range(count)]
        self.passed_on += count if None not in found else 0
        return None if None in found else [score for score in found if score is not None]

    def note(self, key: str, scores: Sequence[Score]) -> None:
        """Keep scores that completions got together, not each for itself."""
        entries = [(f"{key}:{number}", score) for number, score in enumerate(scores)]
        self._known.update(entries)
        self.calls += len(entries)
        self._append(entries)

    def _key(self, query: Query) -> str:
        text = content_hash(self.subject.fingerprint, query.problem.id, query.completion)
        self._turns[text] += 1
        return f"{text}/{self._turns[text]}"

    def _append(self, entries: list[tuple[str, Score]]) -> None:
        if self._folder is None or not entries:
            return
        lines = [json.dumps({"key": key, **_to_json(score)}) + "\n" for key, score in entries]
        self._folder.append(_CALLS, "".join(lines).encode("ascii"), sync=True)

    def _read(self, folder: RunFolder) -> None:
        wanted = {"fingerprint": self.subject.fingerprint, "subject": self.subject.name}
        mark = folder.read(_SUBJECT)
        if mark is None:
            folder.write(_SUBJECT, f"{json.dumps(wanted)}\n".encode())
        elif json.loads(mark)["fingerprint"] != wanted["fingerprint"]:
            raise UsageError(
                f"{folder.path}: this folder belongs to an audit of something else, or the "
                "verifier or its problems have changed since; choose another folder"
            )
        for line in folder.lines(_CALLS):
            entry = json.loads(line)
            self._known[entry.pop("key")] = _from_json(entry)


def _to_json(score: Score) -> dict[str, Any]:
    value = score.value
    odd = value is not None and not math.isfinite(value)
    return {
        "value": repr(value) if odd else value,
        "trouble": score.trouble,
        "reason": score.reason,
        "seconds": round(score.seconds, 6),
    }


def _from_json(entry: dict[str, Any]) -> Score:
    value = entry["value"]
    return Score(
        None if value is None else float(value), entry["trouble"], entry["reason"], entry["seconds"]
    )
