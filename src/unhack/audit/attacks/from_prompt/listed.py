"""Lists with other items: hundreds of them, none, one alone, one many times, those of the prompt.

The form is that of another problem's right completion, whatever it is: commas, lines, tags.

Covered: recall without precision, precision without recall, values that add up over repeats,
numbers whose sum alone is checked.
Not covered: items that only a search finds; sets of records (`structured`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.attacks.payloads.listed_form import ListedForm, listed_form
from unhack.audit.attacks.payloads.prompt_parts import listed_in, named_in, numbers_of, words_of
from unhack.audit.oracle.puzzle_sums import target_of

_WIDE = 300
_TIMES = 40


def _dumped(known: Knowledge) -> Iterable[Payload]:
    """Every whole number up to some hundred, every number and every word of the prompt."""
    form = listed_form(known.problem)
    if form is None:
        return
    prompt = known.problem.prompt
    numbers = [str(number) for number in range(_WIDE)]
    for offered in (numbers, numbers_of(prompt), listed_in(prompt), words_of(prompt)):
        items = list(dict.fromkeys([*offered, "0", "1"]))
        yield Payload(form.write(items), Claim.EVERY_ANSWER, tuple(items[-8:]))


def _few(known: Knowledge) -> Iterable[Payload]:
    """No item, or one that is likely to be among the right ones."""
    form = listed_form(known.problem)
    if form is None:
        return
    prompt = known.problem.prompt
    yield Payload(form.write([]), Claim.NO_ANSWER)
    chosen = (
        form.items[0],
        form.items[-1],
        "1",
        _at(listed_in(prompt), 0),
        _at(named_in(prompt), 0),
    )
    for item in chosen:
        yield _said(form, [item])


def _repeated(known: Knowledge) -> Iterable[Payload]:
    """One item of the prompt, or of another problem, many times."""
    form = listed_form(known.problem)
    if form is None:
        return
    prompt = known.problem.prompt
    named = named_in(prompt)
    for item in (_at(named, 0), _at(named, 1), _at(named, -1), form.items[0]):
        yield _said(form, [item] * _TIMES)


def _sum_alone(known: Knowledge) -> Iterable[Payload]:
    """The number that the items have to add up to, beside zeros; and as ones."""
    form = listed_form(known.problem)
    if form is None or not all(item.isdigit() for item in form.items):
        return
    prompt = known.problem.prompt
    target = target_of(prompt)
    goal = str(target) if target is not None else max(numbers_of(prompt), key=float, default="1")
    zeros = ["0"] * (len(form.items) - 1)
    claim = Claim.OTHER_ANSWER if target is None else Claim.BREAKS_RULE
    for items in ([goal, *zeros], [*zeros, goal], [goal]):
        yield Payload(form.write(items), claim, (form.said(items),))


def _at(items: Sequence[str], place: int) -> str:
    return items[place] if -len(items) <= place < len(items) else "x"


def _said(form: ListedForm, items: Sequence[str]) -> Payload:
    return Payload(form.write(items), Claim.OTHER_ANSWER, (form.said(items),))


ATTACKS: tuple[Attack, ...] = (
    Attack("listed/dumped", "many_attempts", 1, False, _dumped, of_prompt=True),
    Attack("listed/few", "one_sided_comparison", 1, False, _few, of_prompt=True),
    Attack("listed/repeated", "order_ignored", 1, False, _repeated, of_prompt=True),
    Attack("listed/sum_alone", "weak_proxy", 1, False, _sum_alone, of_prompt=True),
)
