"""The work on one verifier: the present text of its copy, the holes, what was kept and refused."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from unhack.audit.hardening.copy import HardenedCopy
from unhack.audit.hardening.holes import Hole
from unhack.audit.hardening.trial import Trial, TrialOutcome
from unhack.audit.subject import tree_of
from unhack.core.errors import UsageError

_LEAST_GOLD = 2
"""Characters of a row's text that no fix may name."""


@dataclass
class HardeningWork:
    """The state of hardening one verifier."""

    copy: HardenedCopy
    trial: Trial
    text: str
    holes: list[Hole] = field(default_factory=list[Hole])
    variants: list[Hole] = field(default_factory=list[Hole])
    """Varied forms of the hacks, which no fix may reward."""
    kept: list[str] = field(default_factory=list[str])
    refused: dict[str, str] = field(default_factory=dict[str, str])
    open: frozenset[int] = frozenset()

    def run(self, text: str, *, alone: bool = True, if_closing: bool = False) -> TrialOutcome:
        """The trial of a text; right completions are left out where it closes nothing anyway."""
        before = self.open if if_closing else None
        try:
            copy = self.copy.write(text)
            return self.trial.run(copy, self.holes, alone=alone, open_before=before)
        except (UsageError, SyntaxError) as error:
            return TrialOutcome((), frozenset(range(len(self.holes))), str(error))

    def paid(self, text: str) -> list[Hole]:
        """The varied forms of hacks that a text rewards."""
        try:
            outcome = self.trial.run(self.copy.write(text), self.variants, alone=False)
        except (UsageError, SyntaxError):
            return list(self.variants)
        return [self.variants[at] for at in sorted(outcome.open)]

    def accepts(self, text: str, what: Sequence[str]) -> bool:
        """Take a text that closes a hole and loses nothing; every completion is scored alone. The
        varied forms of a hack that it rewards are open holes from then on."""
        outcome = self.run(text)
        if not outcome.keeps or not outcome.open < self.open:
            return False
        self.text, self.open = text, outcome.open
        self.kept += what
        for one in what:
            self.refused.pop(one, None)
        known = set(self.holes)
        self.add(one for one in self.paid(text) if one not in known)
        return True

    def named_row(self, text: str) -> str:
        """A text of a row (its prompt, answer or a right completion) that a fix names and the
        verifier did not; empty where there is none."""
        new = _constants(text) - _constants(self.copy.source.text)
        for row in self.trial.problems:
            for one in (row.prompt, row.answer or "", *row.correct):
                if len(one) >= _LEAST_GOLD and one.strip() in new:
                    return one
        return ""

    def add(self, holes: Iterable[Hole]) -> None:
        """More holes, which are open."""
        fresh = list(holes)
        self.open |= {len(self.holes) + at for at in range(len(fresh))}
        self.holes += fresh

    def tidy(self, before: str) -> None:
        """Take out what a fix does not need; a varied form that comes back forbids it."""

        def is_as_good(text: str) -> bool:
            outcome = self.run(text)
            return outcome.keeps and outcome.open <= self.open and not self.paid(text)

        self.text = tidied(self.text, before, is_as_good=is_as_good)


def _constants(text: str) -> set[str]:
    """The texts of a source, and its numbers of some length."""
    tree = tree_of(text)
    nodes = (one for one in ast.walk(tree) if isinstance(one, ast.Constant)) if tree else ()
    return {
        str(one.value).strip()
        for one in nodes
        if isinstance(one.value, str)
        or (isinstance(one.value, int | float) and len(str(one.value)) > _LEAST_GOLD)
    }


# Tidying: the parts of a fix that make no difference go, so that it reads like the source.

_WRAPPERS = re.compile(r"\b(?:list|bool)\((\w+)\)|\bstr\((\w+)\)(?=\.strip)|(\w+)\.strip\(\)")
"""Calls around one name that a fix writes to be safe; matched in lines that it wrote itself."""
_MOST = 12


def tidied(text: str, before: str, *, is_as_good: Callable[[str], bool]) -> str:
    """The text with what is not needed taken out of the lines that `before` has not.

    `is_as_good` is asked of every text that is not the same program.
    """
    asked: set[str] = set()
    number = 0
    while number < len(lines := text.split("\n")):
        if lines[number] not in before.split("\n"):
            for shorter in _shorter(lines[number]):
                new = "\n".join([*lines[:number], shorter, *lines[number + 1 :]])
                if new in asked or tree_of(new) is None or len(asked) >= _MOST:
                    continue
                asked.add(new)
                if _same(new, text) or is_as_good(new):
                    text, number = new, number - 1  # the same line again
                    break
        number += 1
    return text


def _shorter(line: str) -> Iterator[str]:
    """The line with one thing less, in every way."""
    for match in _WRAPPERS.finditer(line):
        name = match[1] or match[2] or match[3]
        yield line[: match.start()] + name + line[match.end() :]
    for head in ("return ", "if ", "elif ", "= "):
        start, found, rest = line.partition(f"{head}(")
        colon = ":" if rest.endswith("):") else ""
        if found and rest.endswith(f"){colon}"):
            yield f"{start}{head}{rest[: -1 - len(colon)]}{colon}"


def _same(one: str, other: str) -> bool:
    left, right = tree_of(one), tree_of(other)
    return left is not None and right is not None and ast.dump(left) == ast.dump(right)
