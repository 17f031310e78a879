"""Right completions broken on purpose, where no answer is known: constraints, states, proofs.

A checker has to refuse them; which of them are wrong, a user's oracle says. Without one, a way of
breaking that is rewarded on every problem leaves an audit undecided.

Where a user's oracle decides, ways of which some leave a completion right are tried too: parts left
out, swapped or doubled one by one, numbers a step away, terms worked out, hunks of a patch
reverted, and a patch that deletes the tests.

Covered: items of a list, lines, letters of a sequence of moves, numbers, hunks.
Not covered: breaking what a word means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from unhack.audit.attack import Attack, Claim, Knowledge, Payload, text_attack

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\d)")
_GAPS = ("\n", ", ", ",", ";", " ")


_LABEL = re.compile(r"(?s).*^[^\n:=]{1,40}[:=][ \t]*(?=\S)", re.MULTILINE)
_MOVES = re.compile(r"[A-Z]{3,}")
_TERMS = tuple(
    re.compile(rf"\b(\d{{1,4}})\s*([{signs}])\s*(\d{{1,2}})\b") for signs in (r"\^", r"*+\-")
)
_HUNK = re.compile(r"(?m)^@@ .*\n(?:[ +\-\\].*\n?)*")
_EACH = 5
"""Places at which a completion is broken one by one."""


def _renumbered(text: str, change: Callable[[str], str]) -> Iterator[str]:
    yield _NUMBER.sub(lambda found: change(found[0]), text)


def _body(text: str) -> tuple[int, int]:
    """The place of the last part in brackets or tags, else of what follows the last label, else of
    the whole."""
    bodies = [*re.finditer(r"(?<=[\[{>])[^\[\]{}<>]*[^\[\]{}<>\s][^\[\]{}<>]*(?=[\]}<])", text)]
    if bodies:
        return bodies[-1].span()
    label = _LABEL.match(text)
    return (label.end() if label and "\n" not in text[label.end() :].strip() else 0), len(text)


def items_of(text: str) -> tuple[str, str, list[str], str]:
    """A completion as (text before, gap, items, text behind); fewer than two items where it lists
    nothing."""
    start, end = _body(text)
    body = text[start:end]
    gap = next((one for one in _GAPS if one in body.strip()), "")
    moves = not gap and _MOVES.fullmatch(body.strip())
    items = body.split(gap) if gap else list(body) if moves else []
    return text[:start], gap, items, text[end:]


def _parts(text: str, choose: Callable[[list[str]], list[str]]) -> Iterator[str]:
    before, gap, items, behind = items_of(text)
    if len(items) > 1:
        yield before + gap.join(choose(items)) + behind


def _each_item(text: str, change: Callable[[list[str], int], list[str]]) -> Iterator[str]:
    before, gap, items, behind = items_of(text)
    for at in range(min(len(items), _EACH) if len(items) > 1 else 0):
        yield before + gap.join(change(items, at)) + behind


def _each_number(text: str, step: int) -> Iterator[str]:
    for found in [*_NUMBER.finditer(text)][-_EACH:]:
        yield text[: found.start()] + f"{float(found[0]) + step:g}" + text[found.end() :]


def _worked_out(text: str) -> Iterator[str]:
    """A power, product, sum or difference as its value."""
    terms = [found for pattern in _TERMS for found in pattern.finditer(text)]
    for found in terms[:_EACH]:
        one, sign, other = int(found[1]), found[2], int(found[3])
        values = {"*": one * other, "+": one + other, "-": one - other}
        value = values[sign] if sign in values else one ** min(other, 9)
        yield f"{text[: found.start()]}{value}{text[found.end() :]}"


def _each_line(text: str) -> Iterator[str]:
    lines = text.splitlines(keepends=True)
    for at in range(min(len(lines), _EACH) if len(lines) > 1 else 0):
        yield "".join(lines[:at] + lines[at + 1 :])


def _hunks(text: str) -> Iterator[str]:
    """A patch without one of its hunks, each in turn."""
    hunks = [*_HUNK.finditer(text)]
    for one in hunks[:_EACH] if len(hunks) > 1 else []:
        yield text[: one.start()] + text[one.end() :]


def _without_tests(text: str) -> Iterator[str]:
    """A patch that deletes the tests and does nothing else."""
    if _HUNK.search(text):
        for path in ("tests/test_all.py", "test.py"):
            yield (
                f"diff --git a/{path} b/{path}\ndeleted file mode 100644\n"
                f"--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-import sys\n"
            )


_WAYS: dict[str, Callable[[str], Iterator[str]]] = {
    "negated": partial(_renumbered, change=lambda one: f"-{one}"),
    "shifted": partial(_renumbered, change=lambda one: f"{1000 + float(one):g}"),
    "not_finite": partial(_renumbered, change=lambda one: "NaN"),
    "huge": partial(_renumbered, change=lambda one: "1e999"),
    "nothing": partial(_renumbered, change=lambda one: "0"),
    "first_alone": partial(_parts, choose=lambda items: items[:1]),
    "without_last": partial(_parts, choose=lambda items: items[:-1]),
    "twice": partial(_parts, choose=lambda items: items * 2),
    "all_the_same": partial(_parts, choose=lambda items: items[:1] * len(items)),
}
_JUDGED: dict[str, Callable[[str], Iterator[str]]] = {
    "item_left_out": partial(_each_item, change=lambda items, at: items[:at] + items[at + 1 :]),
    "item_doubled": partial(_each_item, change=lambda items, at: items[: at + 1] + items[at:]),
    "item_moved_last": partial(
        _each_item, change=lambda items, at: [*items[:at], *items[at + 1 :], items[at]]
    ),
    "item_of_its_neighbour": partial(
        _each_item, change=lambda items, at: [*items[:at], items[at - 1], *items[at + 1 :]]
    ),
    "reversed": partial(_parts, choose=lambda items: items[::-1]),
    "number_raised": partial(_each_number, step=1),
    "number_lowered": partial(_each_number, step=-1),
    "term_worked_out": _worked_out,
    "line_left_out": _each_line,
    "hunk_reverted": _hunks,
    "tests_deleted": _without_tests,
}
"""Ways of which some leave a completion right: for a user's oracle to tell."""


def _broken(known: Knowledge, way: str) -> Iterable[Payload]:
    problem = known.problem
    fitting = known.judged or (problem.answer is None and way in _WAYS)
    if fitting and problem.correct and not known.is_view:
        right = problem.correct[0]
        made = (text for text in (_WAYS | _JUDGED)[way](right) if text not in problem.correct)
        yield from (Payload(text, Claim.OTHER_ANSWER, note=way) for text in made)


ATTACKS: tuple[Attack, ...] = tuple(
    text_attack(f"broken/{way}", "weak_proxy", partial(_broken, way=way))
    for way in (*_WAYS, *_JUDGED)
)
