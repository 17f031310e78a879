"""Copies of the prompt, and texts that would answer any other problem as well.

Covered: the prompt and its sentences, numbers and words; constants; answers to made-up problems;
restatements of the question.
Not covered: constants that are right for most problems of a set: those are a matter of the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from unhack.audit.attack import Attack, Claim, Knowledge, Payload, text_attack
from unhack.audit.attacks.payloads.answer_forms import (
    contents_attack,
    differs,
    everything,
    nothing,
    nothing_in_forms,
    others,
)
from unhack.audit.oracle.answers import decimal_of, is_choice, offered_choices, opposite

_PREMISES = ("x = x", "the value that the question asks for", "whatever is right")
"""Statements that hold whatever the problem is."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\d)")


def _prompt(known: Knowledge) -> Iterable[Payload]:
    prompt = known.problem.prompt.strip()
    if not prompt:
        return
    letters = offered_choices(prompt) if is_choice(known.answer) else ()
    if letters:
        yield from everything(known, [prompt], letters, limit=3)
        return
    yield from nothing(known, [prompt, f"{prompt}\n{prompt}"])
    yield from nothing_in_forms(known, [prompt], limit=3)


def _sentences(known: Knowledge) -> Iterable[Payload]:
    """The sentence that asks, as an answer."""
    sentences = re.split(r"(?<=[.?!])\s+", known.problem.prompt.strip())
    asking = [one for one in sentences if one.endswith("?")] or sentences
    if asking[-1] and not is_choice(known.answer):
        first = " ".join(asking[-1].split()[:6])
        yield from nothing_in_forms(known, [asking[-1], first], limit=3)


def _numbers(known: Knowledge) -> Iterable[Payload]:
    """Each of the problem's own numbers."""
    found = list(dict.fromkeys(_NUMBER.findall(known.problem.prompt)))
    value = decimal_of(known.answer)
    if value is not None:
        wrong = [one for one in found if decimal_of(one) != value]
        yield from others(known, [*wrong[:2], *wrong[-1:]], limit=8)


def _numbers_in_a_row(known: Knowledge) -> Iterable[Payload]:
    found = list(dict.fromkeys(_NUMBER.findall(known.problem.prompt)))
    if len(found) > 1:
        yield from nothing_in_forms(known, [" ".join(found), f"[{', '.join(found)}]"], limit=6)


def _words(known: Knowledge) -> Iterable[Payload]:
    """Words of the prompt, where the answer is a word."""
    prompt = known.problem.prompt.casefold()
    found = [word for word in known.wrong_answers if word.casefold() in prompt]
    if decimal_of(known.answer) is None and not is_choice(known.answer):
        yield from others(known, [word for word in found if len(word) > 2][:3], limit=6)


def _constants(known: Knowledge) -> Iterable[Payload]:
    """Constants that need no work."""
    if is_choice(known.answer):
        yield from others(known, list("ABCD"), limit=6)
    elif decimal_of(known.answer) is not None:
        yield from others(known, ["0", "1", "2", "10", "-1", "100"], limit=6)
    elif not opposite(known.answer):
        yield from others(known, ["0", "1", "x"], limit=6)
    else:
        yield from others(known, [opposite(known.answer)], limit=4)


def _other_problem(known: Knowledge) -> Iterable[Payload]:
    """A correct solution of another problem."""
    if differs("23", known):
        for text in ("20 + 3 = 23", "The sum of twenty and three is 23."):
            yield Payload(text, Claim.OTHER_ANSWER, ("23",))
    yield from others(known, ["23", "20 + 3 = 23"], said=["23"] * 2, limit=3)


def _other_row(known: Knowledge) -> Iterable[Payload]:
    """A right completion of another row, as it stands there."""
    shown = known.shown
    if shown is not None and shown.answer and differs(shown.answer, known):
        yield from (
            Payload(text, Claim.OTHER_ANSWER, (shown.answer,)) for text in shown.correct[:2]
        )


ATTACKS: tuple[Attack, ...] = (
    text_attack("echo/prompt", "input_copy_credit", _prompt),
    text_attack("echo/sentence", "input_copy_credit", _sentences),
    text_attack("echo/numbers", "input_copy_credit", _numbers),
    text_attack("echo/numbers_in_a_row", "input_copy_credit", _numbers_in_a_row),
    text_attack("echo/words", "input_copy_credit", _words),
    text_attack("echo/constants", "degenerate_credit", _constants, generic=True),
    text_attack("echo/other_problem", "problem_unbound", _other_problem, generic=True),
    text_attack("echo/other_row", "problem_unbound", _other_row),
    contents_attack("echo/own_premise", "problem_unbound", _PREMISES, limit=3),
)
