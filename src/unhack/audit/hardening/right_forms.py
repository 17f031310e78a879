"""Other forms of right completions, and partly right ones, which a fix must score as before.

Covered: white space, line ends, notations of numbers, case, items in another order and with other
gaps, keys of JSON in another order and layout, programs in another form; one item, line or key
wrong or left out.
Not covered: other words for the same.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from itertools import islice

from unhack.audit.oracle.listings import listing_of, order_counts
from unhack.audit.oracle.puzzle_sums import puzzle_of, sample_expressions
from unhack.audit.proving.checks.group_samples import replace_answer
from unhack.audit.proving.checks.variants import variants
from unhack.audit.subject import AuditProblem, json_of, record_of

_ANY_ORDER = re.compile(r"(any|whatever|no particular) order|order does(n't| not) matter", re.I)
_OTHER = "zzz"
_SHORT = 40
"""Most characters of an answer that is put into a sentence."""
_WORDS = 3
"""Of a completion, from its end, that are changed for near misses."""


def right_forms(problem: AuditProblem, right: str) -> Iterator[str]:
    """The same completion written otherwise, each form once; the first is `right` itself."""
    found = [right, *(one.text for one in variants(problem, right))]
    if not problem.is_code:
        found += [f"\n{right}\n", f"  {right}  ", f"{right}.", right.upper(), right.lower()]
        found += _forms(problem, right)
        found += _in_prose(problem, right)
        if right.strip() != (problem.answer or "").strip():
            found += _restated(problem, right)
    yield from dict.fromkeys(found)


def _in_prose(problem: AuditProblem, right: str) -> Iterator[str]:
    """The completion as people and models often write it: behind reasoning, in a sentence, marked,
    said twice; of number puzzles, another expression."""
    answer = (problem.answer or "").strip()
    if not answer or "\n" in answer or len(answer) > _SHORT:
        return
    work = "First 3 + 4 = 7.\n" if answer[-1].isdigit() else "Let me think about it first.\n"
    yield from (f"{work}{right}", f"{right}\n{right}")
    if right.strip() == answer:
        yield from (f"The answer is {answer}.", f"Answer: {answer}", f"<answer>{answer}</answer>")
    puzzle = puzzle_of(problem.prompt, answer)
    if puzzle is not None:
        made = sample_expressions(puzzle.numbers, "+-*/", random.Random(0))
        found = (text for text, value in made if value == puzzle.target)
        for text in islice(dict.fromkeys(found), 2):
            yield from _placed(problem, right, text)


def _restated(problem: AuditProblem, right: str) -> Iterator[str]:
    """The completion behind its question, as prose often has it."""
    yield f"{problem.prompt}\n{right}"
    yield f"I am asked: {problem.prompt} {right}"


def partial_forms(problem: AuditProblem, right: str, *, short: bool) -> Iterator[str]:
    """Completions with one item or key wrong, or where `short` one left out.

    What a part is worth is for the verifier to say.
    """
    answer = problem.answer or ""
    if problem.is_code or not answer:
        return
    parts = _parts(answer)
    if parts is not None:
        items, gap = parts
        for at in {0, len(items) // 2, len(items) - 1}:
            other = [] if short else [_wrong(items[at])]
            some = [*items[:at], *other, *items[at + 1 :]]
            yield from _placed(problem, right, gap.join(some))
    known = record_of(json_of(answer))
    for key in known:
        other = {} if short else {key: _OTHER}
        rest = {name: one for name, one in known.items() if name != key}
        yield from _placed(problem, right, json.dumps({**rest, **other}))


def spoilt(problem: AuditProblem, form: str) -> str:
    """The same form with a wrong answer: digits or, in an answer without any, letters shifted.

    What is rewarded for both is not rewarded for being right.
    """
    answer = problem.answer or ""
    if any(map(str.isdigit, answer)):
        return re.sub(r"\d", lambda one: str((int(one[0]) + 1) % 10), form)
    words = set(re.findall(r"\w+", answer.lower()))
    return re.sub(r"\w+", lambda one: _shifted(one[0]) if one[0].lower() in words else one[0], form)


def near_misses(right: str, form: str) -> Iterator[tuple[str, str]]:
    """A right completion and another form of it, the last digit or letter of the same word changed
    in both; one pair for each of the last words.

    A form that is rewarded with such a change, where the plain completion is not, is rewarded for
    less than the whole answer.
    """
    words = list(dict.fromkeys(reversed(re.findall(r"[^\W_]+", right.lower()))))
    for word in words[:_WORDS]:
        places = [text.lower().rfind(word) + len(word) - 1 for text in (right, form)]
        if places[1] >= len(word) - 1:
            changed = [
                text[:at] + _next(text[at]) + text[at + 1 :]
                for text, at in zip((right, form), places, strict=True)
            ]
            yield changed[0], changed[1]


def _next(sign: str) -> str:
    return str((int(sign) + 1) % 10) if sign.isdecimal() else _shifted(sign)


def _shifted(word: str) -> str:
    return "".join(chr(ord(sign) + 1) if sign not in "zZ" else "a" for sign in word)


def _forms(problem: AuditProblem, right: str) -> Iterator[str]:
    answer = problem.answer or ""
    for text in _spelled(answer.strip()):
        yield from _placed(problem, right, text)
    listing = listing_of(answer)
    if listing is not None:
        if not order_counts(listing, problem.prompt) and not listing.ordered:
            turned = listing.write(list(reversed(listing.items)))
            yield from _placed(problem, right, turned)
        if "," in listing.gap:
            for gap in (",", ", ", " , "):
                text = f"{listing.before}{gap.join(listing.items)}{listing.after}"
                yield from _placed(problem, right, text)
    parts = _parts(answer)
    if parts is not None and _ANY_ORDER.search(problem.prompt):
        items, gap = parts
        yield from _placed(problem, right, gap.join(reversed(items)))
        yield from _placed(problem, right, gap.join([*items[1:], items[0]]))
    for whole in (answer, right):
        data = json_of(whole)
        if type(data) not in (dict, list):
            continue
        turned = dict(reversed(record_of(data).items())) or data
        for text in (json.dumps(turned), json.dumps(data, indent=1), _compact(turned)):
            yield from [text] if whole == right else _placed(problem, right, text)


def _spelled(answer: str) -> Iterator[str]:
    """The same short answer as people spell it: quoted, with a full stop, in other case."""
    if not answer or "\n" in answer or (json_of(answer) is not None and not answer.isdigit()):
        return
    yield from (f"{answer}.", f" {answer} ", f"**{answer}**", f"${answer}$")
    if any(map(str.isalpha, answer)):
        yield from (f'"{answer}"', answer.upper(), answer.lower(), answer.capitalize())
        article, _, rest = answer.partition(" ")
        yield rest if article.lower() == "the" and rest else f"the {answer}"


def _placed(problem: AuditProblem, right: str, form: str) -> Iterator[str]:
    """The completion with another text in place of its answer."""
    answer = (problem.answer or "").strip()
    if right.strip() == answer:
        yield form
        return
    text = replace_answer(right, answer, form)
    if text is not None:
        yield text


def _parts(answer: str) -> tuple[list[str], str] | None:
    """The items of an answer, and what stands between them."""
    for gap in ("\n", ", ", ",", "; ", " "):
        items = answer.split(gap)
        if len(items) > 1 and all(items) and "{" not in answer:
            return items, gap
    return None


def _wrong(item: str) -> str:
    digits = re.search(r"\d+", item)
    if digits is None:
        return _OTHER
    return item[: digits.start()] + str(int(digits[0]) + 1) + item[digits.end() :]


def _compact(data: object) -> str:
    return json.dumps(data, separators=(",", ":"))
