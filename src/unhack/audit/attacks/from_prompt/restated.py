"""Parts of the prompt as an answer, and computations of it that are left to the verifier.

Covered: numbers, quantities, dates, quotations, lists in several orders and notations, numbered
items, lines; given numbers that were to be taken apart; expressions of the prompt's numbers and
letters, also where the prompt says the operation in words; targets of number puzzles.
Not covered: answers that take a second step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.attacks.payloads.formulas import (
    expressions_of,
    formula_of,
    latex_of,
    plain_of,
)
from unhack.audit.attacks.payloads.prompt_parts import PARTS, numbers_of, quantities_of
from unhack.audit.attacks.payloads.slots import at_places, says, says_nothing, slots
from unhack.audit.oracle.puzzle_sums import target_of

_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b|\b\d{1,2}:\d\d\b")

_ITEM = re.compile(r"(?:^|\n)[ \t.;,-]*\(?\d{1,2}[.)]\s+(\S.*)")
_WORKED = re.compile(r"\d\s*([×*·⋅+^]|\\(?:times|cdot))\s*\d")
"""An answer that is itself a sum, a product or a power."""


def numbered_in(prompt: str) -> list[str]:
    """The items of a numbered list, without their numbers and final full stops."""
    return [item.strip().rstrip(".;,").strip() for item in _ITEM.findall(prompt)]


def _parts(known: Knowledge) -> Iterable[Payload]:
    contents = [says(part(known.problem.prompt) or "x") for part in PARTS.values()]
    return at_places(known, contents, forms=2)


def _expressions(known: Knowledge) -> Iterable[Payload]:
    """The computation, not carried out: in every notation in the likeliest form, then in others."""
    texts = [text or "x" for text in expressions_of(known.problem.prompt)]
    for form in slots(known):
        for text in texts:
            yield Payload(form.write(text), Claim.NO_ANSWER, (), form.name)


def _quantities(known: Knowledge) -> Iterable[Payload]:
    """The given quantities with their units, and dates from which the verifier has to count."""
    prompt = known.problem.prompt
    found = [*quantities_of(prompt), "x"]
    steps = [one for one in found if re.search(r"(?:day|week|month|year|hour|minute)s?$", one)]
    date, step = next(iter(_DATE.findall(prompt)), "x"), (steps or ["1 day"])[0]
    texts = [found[0], found[-2 if len(found) > 1 else 0], f"{date} + {step}", f"{date} - {step}"]
    return at_places(known, [*map(says_nothing, texts), says(date)], forms=2)


def _as_premise(known: Knowledge) -> Iterable[Payload]:
    """An equation that holds for any problem, or only repeats what is asked."""
    prompt = known.problem.prompt
    formula = formula_of(prompt) or plain_of(latex_of(prompt)) or "x"
    texts = ["1 + 1 = 2", "0 = 0", f"{formula} = {formula}", f"{formula} = ?", f"x = {formula}"]
    return at_places(known, map(says_nothing, texts), forms=2)


def _items(known: Knowledge) -> Iterable[Payload]:
    """A numbered statement of the prompt, as what is to be concluded from all of them."""
    items = numbered_in(known.problem.prompt) or ["x"]
    texts = [max(items, key=len), items[0], items[-1], min(items, key=len), "\n".join(items)]
    return at_places(known, map(says, texts), forms=2)


def _unworked(known: Knowledge) -> Iterable[Payload]:
    """A given number where the answer is to be a sum, a product or a power that makes it."""
    sign = _WORKED.search(known.answer)
    if sign is None:
        return
    numbers = numbers_of(known.problem.prompt) or ["x"]
    one = max(numbers, key=len)
    texts = [one, numbers[0], numbers[-1], f"{one} {sign[1]} 1", f"1 {sign[1]} {one}"]
    yield from at_places(known, map(says_nothing, texts), forms=2)


def _target(known: Knowledge) -> Iterable[Payload]:
    """The number that is to be reached by an expression, as one: with none of the given numbers,
    with all of them taken away again, or with foreign ones."""
    prompt = known.problem.prompt
    target = target_of(prompt)
    goal = "0" if target is None else str(target)
    given = [one for one in numbers_of(prompt) if one != goal] or ["1"]
    total = "+".join(given)
    texts = [goal, f"{goal} + 0", f"{goal}*1", f"{goal}+({total})-({total})", f"{goal}+0*({total})"]
    texts += ["+".join(["1"] * min(200, max(1, int(goal)))), f"{goal}=={goal}", f"{goal}={goal}"]
    forms = slots(known)[:2]
    for text in texts:
        for form in forms:
            # What reaches the target and breaks a rule; the oracle finds the rule.
            plain = re.fullmatch(r"[\d+*()-]+", text) is not None
            claim = Claim.BREAKS_RULE if target is not None and plain else Claim.NO_ANSWER
            yield Payload(form.write(text), claim, (text,), form.name)


ATTACKS: tuple[Attack, ...] = (
    Attack("restated/parts", "input_copy_credit", 1, False, _parts, of_prompt=True),
    Attack(
        "restated/expressions", "unevaluated_restatement", 1, False, _expressions, of_prompt=True
    ),
    Attack("restated/quantities", "unevaluated_restatement", 1, False, _quantities, of_prompt=True),
    Attack("restated/premise", "problem_unbound", 1, False, _as_premise, of_prompt=True),
    Attack("restated/items", "input_copy_credit", 1, False, _items, of_prompt=True),
    Attack("restated/unworked", "unevaluated_restatement", 1, False, _unworked, of_prompt=True),
    Attack("restated/target", "weak_proxy", 1, False, _target, of_prompt=True),
)
