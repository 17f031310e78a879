"""Formulas of a prompt, as a policy can hand them back without working anything out.

Covered: arithmetic in plain text; formulas in LaTeX, as they stand and in plain notation; integrals
and polynomials in the notation of sympy. A formula that a prompt does not have is an empty text.
Not covered: formulas that the prompt says in words.
"""

from __future__ import annotations

import re
from itertools import islice

from unhack.audit.attacks.payloads.prompt_parts import numbers_of

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
