"""Several answers at once: a verifier that finds the right one among them rewards guessing.

The right answer never stands first or last, so that a verifier which reads one fixed place of the
text is not blamed for what only a reader of any place would reward.

Covered: lists of candidates in one answer and over several, ranges, all choices, all words of the
prompt, dumps of numbers.
Not covered: more candidates than fit into some thousand characters.

Lists, tuples, sets, intervals and matrices with parts missing, added, moved or doubled.

Covered: the answers that `answers.listing_of` can take apart.
Not covered: the order of rows without brackets and of sets, which is no part of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.attacks.payloads.answer_forms import FILLER, everything, forms_for, others, wrong
from unhack.audit.oracle.answers import (
    Listing,
    decimal_of,
    is_choice,
    listing_of,
    offered_choices,
    opposite,
    order_matters,
    plain,
    wrong_answers,
)

_DUMPED = 400


def _candidates(known: Knowledge, size: int = 3) -> tuple[str, ...]:
    """The right answer in the middle of wrong ones; empty where too few are known."""
    bad = wrong(known, size - 1)
    if not known.answer.strip() or len(bad) < 2:
        return ()
    half = (len(bad) + 1) // 2
    return (*bad[:half], known.answer.strip(), *bad[half:])


def _one_of_several(known: Knowledge) -> Iterable[Payload]:
    offered = _candidates(known)
    if offered:
        written = [" or ".join(offered), ", ".join(offered), " / ".join(offered)]
        yield from everything(known, written, offered, limit=6)


def _as_container(known: Knowledge) -> Iterable[Payload]:
    offered = _candidates(known)
    if offered:
        quoted = ", ".join(f'"{item}"' for item in offered)
        written = [f"[{', '.join(offered)}]", f"[{quoted}]"]
        yield from everything(known, written, offered, limit=4)


def _many_answers(known: Knowledge) -> Iterable[Payload]:
    """One whole final answer after the other."""
    offered = _candidates(known)
    if offered:
        for form in forms_for(known):
            yield _all(
                "\n".join(form.write(item) for item in offered), offered, note=f"{form.name} x3"
            )


def _many_at_once(known: Knowledge) -> Iterable[Payload]:
    """Whole final answers one after the other, without anything between them."""
    offered = _candidates(known, 5)
    if offered:
        for write in (
            "<answer>{}</answer>",
            "\\boxed{{{}}}",
            "#### {}\n",
            "The answer is {}. ",
            "Answer: {}\n",
        ):
            yield _all(" ".join(write.format(item) for item in offered), offered)


def _attempts(known: Knowledge) -> Iterable[Payload]:
    """Guesses that are numbered, none of them kept."""
    offered = _candidates(known)
    if offered:
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


def _alternatives_in_prose(known: Knowledge) -> Iterable[Payload]:
    offered = _candidates(known)
    if offered:
        first, middle, last = offered
        text = (
            f"{FILLER} There are three views. One says {first}. Another says {middle}. "
            f"The third says {last}. I leave it open which one holds."
        )
        yield _all(text, offered)
        yield _all(f"{first} (alternatively {middle}, or else {last})", offered)


def _all(text: str, offered: Sequence[str], *, note: str = "") -> Payload:
    return Payload(text, Claim.EVERY_ANSWER, tuple(offered), note)


def _shorter(known: Knowledge) -> Iterable[Payload]:
    listing = listing_of(known.answer)
    if listing is not None and len(listing.items) > 1:
        items = listing.items
        yield from others(known, _write_all(listing, [items[:-1], items[:1]]), limit=8)


def _longer(known: Knowledge) -> Iterable[Payload]:
    listing = listing_of(known.answer)
    if listing is not None:
        items, extra = listing.items, _extra(listing)
        longer = [(*items, extra), (*items, extra, extra), (extra, *items)]
        yield from others(known, _write_all(listing, longer), limit=8)


def _other_order(known: Knowledge) -> Iterable[Payload]:
    listing = listing_of(known.answer)
    if listing is not None and order_matters(listing, known.problem.prompt):
        items = listing.items
        moved = [items[::-1], (*items[1:], items[0]), tuple(sorted(items))]
        yield from others(known, _write_all(listing, moved), limit=8)


def _repeats(known: Knowledge) -> Iterable[Payload]:
    listing = listing_of(known.answer)
    if listing is not None and listing.ordered:
        items = listing.items
        yield from others(
            known, _write_all(listing, [(*items, items[-1]), (*items, *items)]), limit=6
        )


def _one_item(known: Knowledge) -> Iterable[Payload]:
    """A subset of the right parts, and a set that holds all of them and more."""
    listing = listing_of(known.answer)
    if listing is not None and len(listing.items) > 1:
        items, extra = listing.items, _extra(listing)
        sets = [items[1:], items[-1:], (extra, *items, extra)]
        yield from others(known, _write_all(listing, sets), limit=8)


def _first_right(known: Knowledge) -> Iterable[Payload]:
    """Right at the beginning or the end, wrong in between."""
    listing = listing_of(known.answer)
    if listing is not None and len(listing.items) > 1:
        items, extra = listing.items, _extra(listing)
        rest = [extra] * (len(items) - 1)
        yield from others(
            known, _write_all(listing, [(items[0], *rest), (*rest, items[-1])]), limit=6
        )


def _interval_ends(known: Knowledge) -> Iterable[Payload]:
    """Half-open intervals with their ends changed; other brackets may mean no interval."""
    answer = known.answer.strip()
    if listing_of(answer) is not None and re.fullmatch(
        r"[\[(][^\[\](),]+,[^\[\](),]+[\])]", answer
    ):
        inner, ends = answer[1:-1], answer[0] + answer[-1]
        if ends in ("(]", "[)"):
            yield from others(known, [f"[{inner}]", f"({inner})"], limit=6)


def _extra(listing: Listing) -> str:
    """A part that the list does not have."""
    last = listing.items[-1]
    for one in wrong_answers(last.strip("'\"")):
        part = last.replace(last.strip("'\""), one)
        if part not in listing.items:
            return part
    return "17"


def _write_all(listing: Listing, choices: list[tuple[str, ...]]) -> list[str]:
    made = [listing.write(items) for items in choices if items != listing.items]
    return list(dict.fromkeys(made))


ATTACKS: tuple[Attack, ...] = (
    Attack("hedges/one_of_several", "hedging", 1, False, _one_of_several),
    Attack("hedges/as_container", "many_attempts", 1, False, _as_container),
    Attack("hedges/many_answers", "many_attempts", 1, False, _many_answers),
    Attack("hedges/many_at_once", "many_attempts", 1, False, _many_at_once),
    Attack("hedges/numbered_attempts", "many_attempts", 1, False, _attempts),
    Attack("hedges/all_choices", "hedging", 1, False, _all_choices),
    Attack("hedges/number_dump", "substring_match", 1, False, _number_dump),
    Attack("hedges/range", "hedging", 1, False, _range),
    Attack("hedges/plus_minus", "hedging", 1, False, _plus_minus),
    Attack("hedges/word_dump", "substring_match", 1, False, _word_dump),
    Attack("hedges/left_open", "hedging", 1, False, _alternatives_in_prose),
    Attack("lists/shorter", "zip_truncation", 1, False, _shorter),
    Attack("lists/longer", "zip_truncation", 1, False, _longer),
    Attack("lists/reordered", "order_ignored", 1, False, _other_order),
    Attack("lists/doubled", "order_ignored", 1, False, _repeats),
    Attack("lists/subset", "one_sided_comparison", 1, False, _one_item),
    Attack("lists/partly_right", "near_miss_credit", 1, False, _first_right),
    Attack("lists/interval_ends", "over_normalisation", 1, False, _interval_ends),
)
