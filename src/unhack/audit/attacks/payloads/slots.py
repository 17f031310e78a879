"""Payloads at fixed places: number k of an attack is the same program for every prompt.

A place is a form and a content. Their numbers must not depend on the prompt, so nothing is left out
here: a completion that happens to be right is told by the oracle.

Covered: the likeliest form, the bare content, all forms at once.
Not covered: forms that only some prompts of a set name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from unhack.audit.attack import Claim, Knowledge, Payload
from unhack.audit.attacks.payloads.answer_forms import BARE, AnyForm, EveryForm, forms_for

Content = tuple[str, Claim, tuple[str, ...]]
"""A text, the way in which it is wrong, and the answers that it puts forward."""


def slots(known: Knowledge) -> tuple[AnyForm, AnyForm, AnyForm]:
    """The likeliest form, the bare answer (or the next form where that is it), and every form."""
    forms = forms_for(known)
    return forms[0], BARE if forms[0] != BARE else forms[1], EveryForm()


def at_places(
    known: Knowledge, contents: Iterable[Content], *, forms: int = 3
) -> Iterator[Payload]:
    """Each content in each of the first `forms` slots, content after content."""
    chosen = slots(known)[:forms]
    for text, claim, asserts in contents:
        for form in chosen:
            yield Payload(form.write(text), claim, asserts, form.name)


def says(text: str) -> Content:
    """A content that is an answer."""
    return text, Claim.OTHER_ANSWER, (text,)


def says_nothing(text: str) -> Content:
    """A content that commits to nothing."""
    return text, Claim.NO_ANSWER, ()


def offers(text: str, answers: Sequence[str]) -> Content:
    """A content that puts forward several answers, of which `answers` are some."""
    return text, Claim.EVERY_ANSWER, tuple(answers)
