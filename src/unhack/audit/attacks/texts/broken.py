"""Right completions broken on purpose, where no answer is known: constraints, states, proofs.

A checker has to refuse them; which of them are wrong, a user's oracle says. Without one, a way of
breaking that is rewarded on every problem leaves an audit undecided.

Covered: parts left out, said twice, or the same everywhere; numbers negated, shifted or not finite.
Not covered: breaking what a word means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from unhack.audit.attack import Attack, Claim, Knowledge, Payload, text_attack

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\d)")
_GAPS = ("\n", ", ", ",", ";", " ")


def _renumbered(text: str, change: Callable[[str], str]) -> Iterator[str]:
    yield _NUMBER.sub(lambda found: change(found[0]), text)


def _parts(text: str, choose: Callable[[list[str]], list[str]]) -> Iterator[str]:
    """The last part in brackets or tags, else the whole, with other items."""
    bodies = [*re.finditer(r"(?<=[\[{>])[^\[\]{}<>]*[^\[\]{}<>\s][^\[\]{}<>]*(?=[\]}<])", text)]
    body = bodies[-1] if bodies else re.search(r"(?s).+", text)
    if body is None:
        return
    gap = next((one for one in _GAPS if one in body[0].strip()), "")
    items = body[0].split(gap) if gap else []
    if len(items) > 1:
        yield text[: body.start()] + gap.join(choose(items)) + text[body.end() :]


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


def _broken(known: Knowledge, way: str) -> Iterable[Payload]:
    problem = known.problem
    if problem.answer is None and problem.correct and not known.is_view:
        right = problem.correct[0]
        made = (text for text in _WAYS[way](right) if text not in problem.correct)
        yield from (Payload(text, Claim.OTHER_ANSWER, note=way) for text in made)


ATTACKS: tuple[Attack, ...] = tuple(
    text_attack(f"broken/{way}", "weak_proxy", partial(_broken, way=way)) for way in _WAYS
)
