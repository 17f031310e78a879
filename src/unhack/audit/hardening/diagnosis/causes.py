"""The cause of a hole: the diagnostic edits of one place that leave a witness unrewarded.

A diagnostic edit counts where the witness loses its expected reward and right completions keep
their scores, run in the sandbox like everything else. It names the place and what is wrong there,
whatever attack it was that came upon the hole.

Covered: Python functions. Not covered: scripts and tasks, whose causes their attacks tell.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from unhack.audit.hardening.diagnosis.diagnostic_edits import diagnostic_edits
from unhack.audit.proving.classification import Closing, OpenCause
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.subject import Query, Score
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.sessions import score_variants

_MOST_EDITS, _AT_ONCE = 64, 8
_RIGHT_ON, _RIGHT = 5, 2
"""Problems, and completions of each, that must keep their scores."""
_LOSES_SOME = 0.5
"""Factor for a diagnostic edit that some right completion does not survive, but one of each problem
does."""


@dataclass(frozen=True, slots=True)
class CauseTrial:
    """The diagnostic edits of one verifier, tried on what it rewards for wrong completions."""

    journal: ScoreJournal
    until: float
    """By `time.monotonic`."""

    def closings(self, holes: Sequence[OpenCause]) -> list[list[Closing]]:
        """For each hole the diagnostic edits that close it; none where that cannot be tried.

        Raises SandboxUnavailableError.
        """
        subject = self.journal.subject
        found: list[list[Closing]] = [[] for _ in holes]
        source = subject.source
        if not isinstance(subject, FunctionSubject) or subject.script is not None or not holes:
            return found
        if source is None or not source.path.endswith(".py"):
            return found
        ran = frozenset[int]().union(*(hole.lines for hole in holes))
        tried = [one for one in diagnostic_edits(source) if one.may_matter(ran)][:_MOST_EDITS]
        right = [
            Query(problem, text)
            for problem in subject.problems[:_RIGHT_ON]
            for text in problem.correct[:_RIGHT]
        ]
        wrong = [
            (at, least, query)
            for at, hole in enumerate(holes)
            for query, least in zip(hole.queries, hole.scores, strict=True)
        ]
        before = self.journal.screen(right, until=self.until)
        asked = [*right, *(query for _, _, query in wrong)]
        for start in range(0, len(tried), _AT_ONCE):
            if time.monotonic() > self.until:
                break
            some = tried[start : start + _AT_ONCE]
            texts = [one.text for one in some]
            with self.journal.within(self.until):
                scored = score_variants(subject, texts, asked, call_s=self.journal.slowest)
            for edit, scores in zip(some, scored, strict=True):
                if any(score.stopped for score in scores):
                    continue
                kept = _kept(right, before, scores[: len(right)], unchecked=edit.is_unchecked)
                after = list(zip(wrong, scores[len(right) :], strict=True))
                for at in range(len(holes) if kept else 0):
                    closed = [
                        not score.at_least(least) for (of, least, _), score in after if of == at
                    ]
                    if closed[0]:
                        weight = edit.weight * kept * sum(closed) / len(closed)
                        one = Closing(
                            edit.flaws, edit.line, edit.code, edit.what, weight,
                            keeps_all=kept == 1.0 or edit.is_unchecked,
                        )  # fmt: skip
                        found[at].append(one)
        return found


def _kept(
    right: Sequence[Query], before: Sequence[Score], after: Sequence[Score], *, unchecked: bool
) -> float:
    """1 where all right completions keep their scores, less where one of each problem does, else
    0. Of credit that is rewarded unseen, all of one problem are enough."""
    by_problem: dict[str, list[bool]] = {}
    for query, one, other in zip(right, before, after, strict=True):
        same = repr(one.value) == repr(other.value)
        by_problem.setdefault(query.problem.id, []).append(same)
    kept = list(by_problem.values())
    if all(map(all, kept)):
        return 1.0
    some = any(map(all, kept)) if unchecked else all(map(any, kept))
    return _LOSES_SOME if some else 0.0
