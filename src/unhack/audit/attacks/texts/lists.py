"""Lists, tuples, sets, intervals and matrices with parts missing, added, moved or doubled.

Covered: the answers that `listings.listing_of` can take apart.
Not covered: the order of rows without brackets and of sets, which is no part of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from unhack.audit.attack import Attack, Knowledge, Payload, text_attack
from unhack.audit.attacks.payloads.answer_forms import others
from unhack.audit.oracle.answers import wrong_answers
from unhack.audit.oracle.listings import Listing, listing_of, order_matters


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
    text_attack("lists/shorter", "zip_truncation", _shorter),
    text_attack("lists/longer", "zip_truncation", _longer),
    text_attack("lists/reordered", "order_ignored", _other_order),
    text_attack("lists/doubled", "order_ignored", _repeats),
    text_attack("lists/subset", "one_sided_comparison", _one_item),
    text_attack("lists/partly_right", "near_miss_credit", _first_right),
    text_attack("lists/interval_ends", "over_normalisation", _interval_ends),
)
