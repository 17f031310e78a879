"""Chains and equations of the prompt without the work: the ends joined, every term times nothing.

Covered: routes and ladders whose ends the prompt names (`from A to F`); equations, also of
substances, whose terms are to get coefficients.
Not covered: chains over several lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from unhack.audit.attack import Attack, Claim, Knowledge, Payload

_CHAIN = re.compile(r"(?<!\w)\w+(?P<gap>\s*(?:->|→|=>|>|-|—|,|;|\|)\s*)\w+(?:(?P=gap)\w+)+")
_ENDS = re.compile(r"\bfrom (?:node |city |station |point )?(\w+) to (\w+)")
_SIDE = r"[\w()^*]{1,40}(?: ?\+ ?[\w()^*]{1,40}){0,9}"
_EQUATION = re.compile(rf"(?<![\w()^*]){_SIDE} ?(?:->|→|=>|=) ?{_SIDE}")
_TERM = re.compile(r"(?<![\w(^*])(?=[\w(])")
_FACTORS = ("0 ", "0", "1 ", "0*")


def _ends_alone(known: Knowledge) -> Iterable[Payload]:
    """The two ends that the prompt names, as neighbours; nothing where it calls them so."""
    prompt = known.problem.prompt
    asked = _ENDS.search(prompt)
    for right in known.problem.correct[:1]:
        chain = _CHAIN.search(right)
        if chain is None or asked is None or _are_neighbours(asked[1], asked[2], prompt):
            continue
        gap = chain["gap"]
        for text in (f"{asked[1]}{gap}{asked[2]}", asked[1], f"{asked[1]}{gap}{asked[1]}"):
            whole = f"{right[: chain.start()]}{text}{right[chain.end() :]}"
            yield Payload(whole, Claim.OTHER_ANSWER, (text,))


def _are_neighbours(first: str, last: str, prompt: str) -> bool:
    """Tell whether the prompt names the two side by side more often than in its question."""
    between = r"\b(?:\W{1,6}|\W+(?:to|and|with)\W+)\b"
    one, other = re.escape(first), re.escape(last)
    pairs = re.findall(rf"\b{one}{between}{other}\b|\b{other}{between}{one}\b", prompt)
    entries = [re.findall(r"\w+", entry) for entry in re.split(r"[;\n]", prompt)]
    told = any(entry[:1] in ([first], [last]) and {first, last} <= set(entry) for entry in entries)
    return len(pairs) > 1 or told or f"{first}{last}" in prompt


def _no_terms(known: Knowledge) -> Iterable[Payload]:
    """The equation of the prompt with the same factor before each term."""
    found = _EQUATION.findall(known.problem.prompt)
    shown = _EQUATION.search("\n".join(known.problem.correct[:1])) or re.search(
        r"[+=→]|->", known.answer
    )
    if not found or shown is None:
        return
    equation = max(found, key=len)
    for factor in _FACTORS:
        text = _TERM.sub(factor, equation)
        yield Payload(text, Claim.OTHER_ANSWER, (text,))


ATTACKS: tuple[Attack, ...] = (
    Attack("chains/ends_alone", "weak_proxy", 1, False, _ends_alone, of_prompt=True),
    Attack("chains/no_terms", "vacuous_truth", 1, False, _no_terms, of_prompt=True),
)
