"""Lists, tuples, sets, intervals and matrices with parts missing, added, moved or doubled.

Covered: the answers that `listings.listing_of` can take apart.
Not covered: the order of rows without brackets and of sets, which is no part of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial

from unhack.audit.attack import Attack, Knowledge, Payload, text_attack
from unhack.audit.attacks.payloads.answer_forms import others
from unhack.audit.oracle.answers import wrong_answers
from unhack.audit.oracle.listings import Listing, listing_of, order_matters

_Items = tuple[str, ...]
_Fits = Callable[[Listing, str], bool]


def _is_list(listing: Listing, prompt: str) -> bool:
    return True


def _has_several(listing: Listing, prompt: str) -> bool:
    return len(listing.items) > 1


def _is_ordered(listing: Listing, prompt: str) -> bool:
    return listing.ordered


_WAYS: tuple[tuple[str, str, _Fits, Callable[[_Items, str], list[_Items]], int], ...] = (
    # The name, the flaw, what it is for, the items instead (of the right ones and a wrong one).
    ("shorter", "zip_truncation", _has_several, lambda own, more: [own[:-1], own[:1]], 8),
    ("longer", "zip_truncation", _is_list,
     lambda own, more: [(*own, more), (*own, more, more), (more, *own)], 8),
    ("reordered", "order_ignored", order_matters,
     lambda own, more: [own[::-1], (*own[1:], own[0]), tuple(sorted(own))], 8),
    ("doubled", "order_ignored", _is_ordered, lambda own, more: [(*own, own[-1]), own * 2], 6),
    # One item alone, and every right one among others, for subset tests.
    ("subset", "one_sided_comparison", _has_several,
     lambda own, more: [own[1:], own[-1:], (more, *own, more)], 8),
    # One right item alone earns a part of the credit, or all of it.
    ("partly_right", "near_miss_credit", _has_several,
     lambda own, more: [(own[0], *[more] * (len(own) - 1)), (*[more] * (len(own) - 1), own[-1])],
     6),
)  # fmt: skip


def _others(name: str, known: Knowledge) -> Iterable[Payload]:
    listing = listing_of(known.answer)
    _, _, fits, choose, limit = next(way for way in _WAYS if way[0] == name)
    if listing is not None and fits(listing, known.problem.prompt):
        made = choose(listing.items, _extra(listing))
        yield from others(known, _write_all(listing, made), limit=limit)


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
    *(text_attack(f"lists/{name}", flaw, partial(_others, name)) for name, flaw, *_ in _WAYS),
    text_attack("lists/interval_ends", "over_normalisation", _interval_ends),
)
