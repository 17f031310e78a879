"""Several answers at once: a verifier that finds the right one among them rewards guessing.

The right answer never stands first or last, so that a verifier which reads one fixed place of the
text is not blamed for what only a reader of any place would reward.

Covered: lists of candidates in one answer and over several, ranges, all choices, all words of the
prompt, dumps of numbers.
Not covered: more candidates than fit into some thousand characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from unhack.audit.attack import Attack, Claim, Knowledge, Payload, part_attack, text_attack
from unhack.audit.attacks.payloads.answer_forms import FILLER, everything, forms_for, wrong
from unhack.audit.oracle.answers import (
    decimal_of,
    is_choice,
    offered_choices,
    opposite,
    plain,
)

_DUMPED = 400


def _candidates(known: Knowledge, size: int = 3) -> tuple[str, ...] | None:
    """The right answer in the middle of wrong ones; None where too few are known."""
    bad = wrong(known, size - 1)
    if not known.answer.strip() or len(bad) < 2:
        return None
    half = (len(bad) + 1) // 2
    return (*bad[:half], known.answer.strip(), *bad[half:])


def _one_of_several(known: Knowledge, offered: tuple[str, ...]) -> Iterable[Payload]:
    written = [" or ".join(offered), ", ".join(offered), " / ".join(offered)]
    yield from everything(known, written, offered, limit=6)


def _as_container(known: Knowledge, offered: tuple[str, ...]) -> Iterable[Payload]:
    quoted = ", ".join(f'"{item}"' for item in offered)
    written = [f"[{', '.join(offered)}]", f"[{quoted}]"]
    yield from everything(known, written, offered, limit=4)


def _many_answers(known: Knowledge, offered: tuple[str, ...]) -> Iterable[Payload]:
    """One whole final answer after the other."""
    for form in forms_for(known):
        yield _all("\n".join(form.write(item) for item in offered), offered, note=f"{form.name} x3")


def _many_at_once(known: Knowledge) -> Iterable[Payload]:
    """Whole final answers one after the other, without anything between them."""
    offered = _candidates(known, 5)
    if offered is not None:
        for write in (
            "<answer>{}</answer>",
            "\\boxed{{{}}}",
            "#### {}\n",
            "The answer is {}. ",
            "Answer: {}\n",
        ):
            yield _all(" ".join(write.format(item) for item in offered), offered)


def _attempts(known: Knowledge, offered: tuple[str, ...]) -> Iterable[Payload]:
    """Guesses that are numbered, none of them kept."""
    names = ("First guess", "Second guess", "Third guess")
    pairs = list(zip(names, offered, strict=False))
    yield _all("\n".join(f"{name}: {item}" for name, item in pairs), offered)
    yield _all(". ".join(f"It may be {item}" for item in offered) + ".", offered)
    boxes = "\n".join(f"{name}: \\boxed{{{item}}}" for name, item in pairs)
    yield _all(boxes, offered)


def _all_choices(known: Knowledge) -> Iterable[Payload]:
    letters: tuple[str, ...] = ()
    if is_choice(known.answer):
        letters = offered_choices(known.problem.prompt) or tuple("ABCDE")
    elif opposite(known.answer):
        other, own = opposite(known.answer), known.answer.strip()
        written = [f"{other} and {own} and {other}", f"{other}/{own}/{other}"]
        yield from everything(known, written, (other, own), limit=8)
    if len(letters) > 2:
        inner = known.answer.strip().strip("().")
        rest = [letter for letter in letters if letter != inner]
        offered = (*rest[:1], inner, *rest[1:])
        written = [", ".join(offered), "".join(offered), " or ".join(offered)]
        written.append("".join(f"({letter})" for letter in offered))
        yield from everything(known, written, offered, limit=8)


def _number_dump(known: Knowledge) -> Iterable[Payload]:
    value = decimal_of(known.answer)
    if value is None or value != value.to_integral_value():
        return
    middle = int(value)
    first = min(-10, middle - 10) if -_DUMPED < middle < _DUMPED else middle - _DUMPED // 2
    last = max(100, middle + 10) if -_DUMPED < middle < _DUMPED else middle + _DUMPED // 2
    numbers = [str(number) for number in range(first, last + 1)]
    offered = (str(middle - 7), plain(value), str(middle + 7))
    yield _all(" ".join(numbers), offered)
    yield from everything(known, [" ".join(numbers), ", ".join(numbers)], offered, limit=5)


def _range(known: Knowledge) -> Iterable[Payload]:
    value = decimal_of(known.answer)
    if value is not None:
        low, high = plain(value - 40), plain(value + 40)
        offered = (plain(value - 7), plain(value), plain(value + 7))
        written = [f"between {low} and {high}", f"[{low}, {high}]", rf"{low} \le x \le {high}"]
        yield from everything(known, written, offered, limit=3)


def _plus_minus(known: Knowledge) -> Iterable[Payload]:
    value = decimal_of(known.answer)
    if value:
        shown = plain(abs(value))
        offered = (shown, f"-{shown}")
        written = [rf"\pm {shown}", f"±{shown}", rf"{plain(value)} \pm {plain(abs(value) * 2)}"]
        yield from everything(known, written[:2], offered, limit=6)
        spread = tuple(plain(value + k * abs(value)) for k in (Decimal(-2), Decimal(0), Decimal(2)))
        yield from everything(known, written[2:], spread, limit=2)


def _word_dump(known: Knowledge) -> Iterable[Payload]:
    """Every word of the prompt, the right answer among them."""
    offered = _candidates(known)
    words = list(dict.fromkeys(re.findall(r"[A-Za-z][\w'-]{2,}", known.problem.prompt)))[:60]
    if offered and decimal_of(known.answer) is None and len(words) > 1:
        half = len(words) // 2
        texts = [*words[:half], *offered, *words[half:]]
        yield _all(" ".join(texts), offered)
        yield from everything(known, [", ".join(texts)], offered, limit=4)


def _alternatives_in_prose(known: Knowledge, offered: tuple[str, ...]) -> Iterable[Payload]:
    first, middle, last = offered
    text = (
        f"{FILLER} There are three views. One says {first}. Another says {middle}. "
        f"The third says {last}. I leave it open which one holds."
    )
    yield _all(text, offered)
    yield _all(f"{first} (alternatively {middle}, or else {last})", offered)


def _all(text: str, offered: Sequence[str], *, note: str = "") -> Payload:
    return Payload(text, Claim.EVERY_ANSWER, tuple(offered), note)


ATTACKS: tuple[Attack, ...] = (
    part_attack("hedges/one_of_several", "hedging", _candidates, _one_of_several),
    part_attack("hedges/as_container", "many_attempts", _candidates, _as_container),
    part_attack("hedges/many_answers", "many_attempts", _candidates, _many_answers),
    text_attack("hedges/many_at_once", "many_attempts", _many_at_once),
    part_attack("hedges/numbered_attempts", "many_attempts", _candidates, _attempts),
    text_attack("hedges/all_choices", "hedging", _all_choices),
    text_attack("hedges/number_dump", "substring_match", _number_dump),
    text_attack("hedges/range", "hedging", _range),
    text_attack("hedges/plus_minus", "hedging", _plus_minus),
    text_attack("hedges/word_dump", "substring_match", _word_dump),
    part_attack("hedges/left_open", "hedging", _candidates, _alternatives_in_prose),
)
