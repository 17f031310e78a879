"""Parts of the prompt as an answer, and computations of it that are left to the verifier.

Covered: numbers, quantities, dates, quotations, lists in several orders and notations, numbered
items, lines; given numbers that were to be taken apart; arithmetic, LaTeX, integrals and
polynomials of the prompt, also where it says the operation in words; targets of number puzzles;
routes and ladders with their ends joined (`from A to F`); equations whose terms are all times
nothing.
Not covered: answers that take a second step; formulas told in words; chains over several lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from unhack.audit.attack import Attack, Claim, Knowledge, Payload, prompt_attack
from unhack.audit.attacks.payloads.prompt_parts import PARTS, numbers_of, quantities_of
from unhack.audit.attacks.payloads.slots import at_places, says, says_nothing, slots
from unhack.audit.oracle.puzzle_sums import target_of

_LATEX = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_OPERATION = re.compile(r"[-+*/^×÷√∫]|\\(?:[dt]?frac|sqrt|cdot|times|div|int|sum|binom)")
_PLAIN = re.compile(r"(?<![\w.])[(\w][-+*/^().\w ]*[)\w]")
_INTEGRAL = re.compile(r"(?:∫|\\int)\s*(.+?)(?:\s|\\,)+d([a-zA-Z])\b")
_NAMED = "(?:sqrt|sin|cos|tan|log|ln|exp|pi)"
_LETTERED = re.compile(rf"(?:(?:(?<![A-Za-z])(?:[a-z]|\d+|{_NAMED})(?![A-Za-z])|[-+*/^()])[ ]?)+")
_CALCULABLE = re.compile(rf"(?:[-+*/^().\d\s]|\b{_NAMED}\b|(?<![a-zA-Z])[a-zA-Z](?![a-zA-Z]))+")


def formula_of(prompt: str) -> str:
    """The longest run of the prompt that could be calculated; empty where there is none."""
    runs = re.findall(r"[(\d][-+*/^×÷().\d ]*[)\d]", prompt)
    return max((run for run in runs if re.search(r"[-+*/^×÷]", run)), key=len, default="")


def latex_of(prompt: str) -> str:
    """The longest formula between LaTeX's marks that has an operation, without the marks."""
    found = ["".join(parts).strip() for parts in _LATEX.findall(prompt)]
    return max((one for one in found if _OPERATION.search(one)), key=len, default="")


def plain_of(latex: str) -> str:
    """A LaTeX formula in plain notation."""
    text = re.sub(r"\\[dt]frac", r"\\frac", latex)
    for _ in range(4):  # nested ones from the inside
        text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", text)
        text = re.sub(r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)", text)
        text = re.sub(r"\^\{([^{}]*)\}", r"^(\1)", text)
    for mark, sign in (("\\cdot", "*"), ("\\times", "*"), ("\\div", "/"), ("\\left", ""),
                       ("\\right", "")):  # fmt: skip
        text = text.replace(mark, sign)
    return re.sub(r"\s+", " ", text.replace("\\", "")).strip()


def algebra_of(prompt: str) -> str:
    """The longest run in plain text that has single letters for numbers, and an operation."""
    runs = [run.strip() for line in prompt.splitlines() for run in _PLAIN.findall(line)]
    runs += [run.strip() for run in _LETTERED.findall(prompt) if re.search(r"[\w)]\s*$", run)]
    fit = [run for run in runs if _CALCULABLE.fullmatch(run) and re.search(r"[-+*/^]", run)]
    whole = [run for run in fit if run.count("(") == run.count(")")]
    return max((run for run in whole if re.search("[a-zA-Z]", run)), key=len, default="")


def integral_of(prompt: str) -> str:
    """The integral that the prompt asks for, in the notation of sympy, not carried out."""
    found = _INTEGRAL.search(prompt)
    return f"Integral({plain_of(found[1])}, {found[2]})" if found else ""


def expressions_of(prompt: str) -> list[str]:
    """The formulas of the prompt, the likeliest first, and its first numbers joined by each
    operator: always seventeen."""
    formula = formula_of(prompt).replace("×", "*").replace("÷", "/")
    latex, algebra, integral = latex_of(prompt), algebra_of(prompt), integral_of(prompt)
    numbers = numbers_of(prompt)
    one, other = [*islice(numbers, 2), "1", "1"][:2]
    found = [latex or integral or formula or algebra]
    found += [plain_of(latex), f"expand({algebra})" if algebra else "", integral, algebra]
    found += [formula, formula.replace("^", "**"), f"({formula})" if formula else ""]
    found += [latex, f"{integral}.doit()" if integral else ""]
    found += [f"{one}{sign}{other}" for sign in "+-*/"]
    found += [f"{other}-{one}", "+".join(numbers), "*".join(numbers)]
    return found


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
    prompt_attack("restated/parts", "input_copy_credit", _parts),
    prompt_attack("restated/expressions", "unevaluated_restatement", _expressions),
    prompt_attack("restated/quantities", "unevaluated_restatement", _quantities),
    prompt_attack("restated/premise", "problem_unbound", _as_premise),
    prompt_attack("restated/items", "input_copy_credit", _items),
    prompt_attack("restated/unworked", "unevaluated_restatement", _unworked),
    prompt_attack("restated/target", "weak_proxy", _target),
    prompt_attack("chains/ends_alone", "weak_proxy", _ends_alone),
    prompt_attack("chains/no_terms", "vacuous_truth", _no_terms),
)
