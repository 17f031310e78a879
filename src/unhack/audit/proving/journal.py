"""The scores of an audit, kept in its run folder: an interrupted audit goes on where it stopped.

Every score is appended to `calls.jsonl` before it is used. The key is the subject's fingerprint,
the problem and the text, and how often that text was scored before, so that repetitions stay
repetitions.

Completions that are only screened share processes, where a trial shows that this changes no score:
a process for each costs more than the verifier itself.

Covered: what `store.run_folder` covers; a last line that was cut off is dropped.
Not covered: what a model said (`language_models.model` keeps it beside the scores).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Self

from unhack.audit.subject import STOPPED, Query, Score, Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.sessions import Way, can_meet, score_together
from unhack.core.errors import UsageError
from unhack.core.hashing import content_hash
from unhack.sandbox.deadline import DeadlineBackend
from unhack.store.run_folder import RunFolder

_CALLS, _SUBJECT = "calls.jsonl", "subject.json"
NO_ROOM = Score(None, STOPPED, "the call budget is used up")


class ScoreJournal:
    """Scores a subject's queries, out of the folder where it has them already."""

    def __init__(self, subject: Subject, folder: str | Path | None) -> None:
        """Raises UsageError when the folder holds the calls of another subject, StoreError where
        it is in use or not accessible. Without a folder, scores are kept in memory alone."""
        self.subject = subject
        self.calls = 0
        """Calls of the verifier by this process; what came from the folder is not counted."""
        self.passed_on = 0
        self.most: float = math.inf
        """Calls of the verifier that may be made; what would be one more is `stopped`."""
        self.slowest = 0.0
        """Seconds of the longest call."""
        self.hung: list[Query] = []
        """Completions that had no score in the time of a call."""
        self.deadline: DeadlineBackend | None = None
        """The backend of the subject, where that has a deadline."""
        self._shares = False
        self._fingerprint: str | None = None
        self._turns: Counter[str] = Counter()
        self._known: dict[str, Score] = {}
        self._screened: dict[str, Score] = {}
        self._folder = None if folder is None else RunFolder(Path(folder), kind="audit")
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

    def __exit__(self, *_: object) -> None:
        self.close()

    def score(self, queries: Sequence[Query]) -> list[Score]:
        """As `Subject.score`."""
        keys = [self._key(query) for query in queries]
        fresh = [index for index, key in enumerate(keys) if key not in self._known]
        found = self._bounded([queries[index] for index in fresh], self.subject.score)
        self.passed_on += len(queries) - len(fresh)
        scores = dict(zip((keys[index] for index in fresh), found, strict=True))
        self._keep(scores)
        self._note_hung([queries[index] for index in fresh], found)
        for one in found:
            self.slowest = self.slowest if one.stopped else max(self.slowest, one.seconds)
        return [scores.get(key) or self._known[key] for key in keys]

    @property
    def room(self) -> float:
        """Calls of the verifier that are left."""
        return max(0.0, self.most - self.calls)

    def _bounded(
        self, queries: Sequence[Query], score: Callable[[Sequence[Query]], list[Score]]
    ) -> list[Score]:
        """The scores of as many as there is room for; the others are `stopped`."""
        some = queries[: int(self.room)] if self.room < len(queries) else queries
        found = score(some) if some else []
        return [*found, *(NO_ROOM for _ in queries[len(some) :])]

    def _keep(self, scores: Mapping[str, Score]) -> None:
        """Keep what was found out, by its key."""
        entries = [(key, score) for key, score in scores.items() if not score.stopped]
        self.calls += len(entries)
        self._known.update(entries)
        self._append(entries)

    @property
    def shares(self) -> bool:
        """True where screened completions share processes."""
        return self._shares

    def try_sharing(self, known: Sequence[tuple[Query, Score]]) -> None:
        """Let screened completions share processes, if that gives these scores again."""
        subject = self.subject
        if not isinstance(subject, FunctionSubject) or not can_meet(subject, Way.SERIES):
            return
        if any(problem.is_code for problem in subject.problems):
            return  # a program may change the process that the next one is scored in
        self._shares = True
        again = self.screen([query for query, _ in known])
        self._shares = all(
            repr(one.value) == repr(score.value)
            for one, (_, score) in zip(again, known, strict=True)
        )

    def screen(self, queries: Sequence[Query], *, until: float = math.inf) -> list[Score]:
        """Scores that several completions got in one process, one after the other; what had none at
        `until`, by `time.monotonic`, is `stopped`.

        Good for choosing what to look at; evidence is scored alone, by `score`.
        """
        with self.within(until):
            return self._screen(queries)

    def within(self, until: float) -> AbstractContextManager[None]:
        """An earlier deadline for a block of code; nothing where there is none to begin with."""
        return nullcontext() if self.deadline is None else self.deadline.within(until)

    @property
    def is_late(self) -> bool:
        """True when a budget is over: what is scored now is `stopped`."""
        return self.room <= 0 or (self.deadline is not None and self.deadline.passed)

    def _screen(self, queries: Sequence[Query]) -> list[Score]:
        if not self._shares:
            return self._screen_alone(queries)
        keys = [self._text_key(query, "shared") for query in queries]
        fresh = {
            key: query for key, query in zip(keys, queries, strict=True) if key not in self._known
        }
        assert isinstance(self.subject, FunctionSubject)
        found = self._bounded(
            list(fresh.values()), partial(score_together, self.subject, call_s=self.slowest)
        )
        scores = dict(zip(fresh, found, strict=True))
        self._keep(scores)
        self._note_hung(list(fresh.values()), found)
        self.passed_on += len(queries) - len(fresh)
        return [scores.get(key) or self._known[key] for key in keys]

    def _note_hung(self, queries: Sequence[Query], scores: Sequence[Score]) -> None:
        pairs = zip(queries, scores, strict=True)
        self.hung += [query for query, score in pairs if score.trouble == "timeout"]

    def _screen_alone(self, queries: Sequence[Query]) -> list[Score]:
        """Scores in processes of their own; a text that was screened before is not run again."""
        texts = [self._text_key(query, "screened") for query in queries]
        fresh = dict(zip(texts, queries, strict=True))
        fresh = {text: query for text, query in fresh.items() if text not in self._screened}
        scores = dict(zip(fresh, self.score(list(fresh.values())), strict=True))
        self._screened.update((text, one) for text, one in scores.items() if not one.stopped)
        self.passed_on += len(queries) - len(fresh)
        return [scores.get(text) or self._screened[text] for text in texts]

    def find(self, key: str, *, count: int) -> list[Score] | None:
        """The scores that `note` was given under a key; None where the folder has not all."""
        found = [self._known.get(f"{key}:{number}") for number in range(count)]
        self.passed_on += count if None not in found else 0
        return None if None in found else [score for score in found if score is not None]

    def note(self, key: str, scores: Sequence[Score]) -> None:
        """Keep scores that completions got together, not each for itself."""
        if any(score.stopped for score in scores):
            return
        entries = [(f"{key}:{number}", score) for number, score in enumerate(scores)]
        self._known.update(entries)
        self.calls += len(entries)
        self._append(entries)

    def _key(self, query: Query) -> str:
        text = self._text_key(query)
        self._turns[text] += 1
        return f"{text}/{self._turns[text]}"

    def _text_key(self, query: Query, *more: str) -> str:
        if self._fingerprint is None:
            self._fingerprint = self.subject.fingerprint
        return content_hash(self._fingerprint, query.problem.id, query.completion, *more)

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
                f"{folder.path}: this folder holds another audit's run, or the "
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
