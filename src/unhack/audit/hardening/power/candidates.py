"""Completions that may show a copy to be weaker: right ones edited by rules of their own.

They are made without the library of attacks, so that what the attacks miss is not missed here too;
payloads of the attacks come last.

Covered: final answers put in the place of the right one, beside it, around it, in parts and in
other order; right programs whose results are spoilt, and mutants of them.
Not covered: wrong completions in a form that no right one has.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from unhack.audit.attack import Claim, Knowledge, Payload, framed, payloads_of
from unhack.audit.attacks.registry import attacks_of
from unhack.audit.oracle.programs import program_text
from unhack.audit.search.mutation.mutants import mutants
from unhack.audit.subject import AuditProblem, Call, json_of, record_of

_TOKEN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_MUTANTS, _OF_ATTACKS, _WRONG, _TOKENS = 12, 160, 6, 8
_OF_ATTACKS_ON_CODE = 24
"""Every program runs in a process of its own."""
_RESULTS = (
    "str(result)", "result[:-1]", "result + result[-1:]", "type(result)(sorted(result))",
    "type(result)(reversed(result))", "f' {result} '.upper()", "result + 0.004", "result * 1.009",
    "-result", "list(result)", "[result]", "None", "1 / 0", "exit(0)",
)  # fmt: skip
"""Expressions of something like the right result."""
_WRAPPED = """{program}

_right, _calls = {entry}, []


def {entry}(*args, **kwargs):
    result = _right(*args, **kwargs)
    _calls.append(args)
    if {when}:
        return result
    try:
        return {value}
    except (TypeError, ValueError, IndexError):
        return None
"""
_ON_EXAMPLES = 3
_SIGNS = (" < ", " > ", " -> ", "\n", ";", ",", " | ", " ")
"""Signs between the items of a list that is no JSON."""
_PLACES = ("{w} or {a}", "{a} or {w}", "{a} {w}", "{w} {a}", "{a}, {w}", "{a}\n{w}", "{w}\n{a}")
_AROUND = ("{a}{w}", "{w}{a}", "not {a}", "{a}0", "0{a}1", "1{a}", "-{a}", "{a}.5", "{a} x", "x{a}")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A completion, what would make it wrong, and where it comes from."""

    problem: AuditProblem
    payload: Payload
    of_attack: bool
    """True when only the audit's own attacks make it."""


def candidates(known: Knowledge) -> list[Candidate]:
    """Different completions for one problem, those of the attacks last."""
    problem = known.problem
    examples = (*problem.calls, *known.examples)
    made = _programs(problem, examples) if problem.is_code else _texts(known)
    found: dict[str, Candidate] = {}
    for payload in made:
        one = framed(payload, known.frame)
        found.setdefault(one.text, Candidate(problem, one, of_attack=False))
    attacks = [*attacks_of(1), *attacks_of(2)]
    most = _OF_ATTACKS_ON_CODE if problem.is_code else _OF_ATTACKS
    for _, payload in payloads_of(attacks, known)[:most]:
        found.setdefault(payload.text, Candidate(problem, payload, of_attack=True))
    return [one for one in found.values() if one.payload.text not in problem.correct]


def _programs(problem: AuditProblem, examples: Sequence[Call]) -> Iterator[Payload]:
    for text in problem.correct[:1]:
        program, entry = program_text(text), problem.entry_point or ""
        if entry.isidentifier():
            yield from _wrapped(program, entry, examples)
        for mutant in mutants(program, limit=_MUTANTS):
            yield Payload(mutant.source, Claim.PROGRAM, note=mutant.note)


def _wrapped(program: str, entry: str, examples: Sequence[Call]) -> Iterator[Payload]:
    """The right program, its results spoilt: each in one way, on one call, or on one input."""
    some = [*examples[:_ON_EXAMPLES], *examples[_ON_EXAMPLES:][-1:]]
    spoilt = [("False", value) for value in _RESULTS]
    spoilt += [("len(_calls) > 1", "None"), ("len(_calls) == 1", "None")]
    spoilt += [(f"args != {one.args!r}", "None") for one in some]
    spoilt += [(f"args == {one.args!r}", "None") for one in some[:1]]
    for when, value in spoilt:
        text = _WRAPPED.format(program=program.rstrip(), entry=entry, when=when, value=value)
        yield Payload(text, Claim.PROGRAM, note=f"{value} unless {when}")


def _texts(known: Knowledge) -> Iterator[Payload]:
    answer, problem = known.answer, known.problem
    yield from (Payload(text, Claim.NO_ANSWER) for text in ("", "...", "I do not know."))
    others = known.wrong_answers[:_WRONG]
    for right in problem.correct[:2]:
        form = _form(right, answer)
        if answer not in right or not answer:
            # Any part of it may be what is checked.
            for other in dict.fromkeys((*_edited(right), *_relisted(right))):
                yield Payload(other, Claim.OTHER_ANSWER, (other,))
        if form is None:
            continue
        before, said, after = form
        yield Payload(before + after, Claim.NO_ANSWER)
        for other in dict.fromkeys((*others, *_edited(said), *_relisted(said))):
            yield Payload(before + other + after, Claim.OTHER_ANSWER, (other,))
            yield Payload(other, Claim.OTHER_ANSWER, (other,))
        for other in others[:2]:
            wrong = before + other + after
            for whole in (
                f"{right}\n{wrong}",
                f"{wrong}\n{right}",
                f"{right}{wrong}",
                f"{said}\n{wrong}",
                f"{wrong}\n{said}",
            ):
                yield Payload(whole, Claim.EVERY_ANSWER, (said, other))
            for place in _PLACES:
                both = place.replace("{a}", said).replace("{w}", other)
                yield Payload(before + both + after, Claim.EVERY_ANSWER, (said, other))
        for other in (*others[:1], "7"):
            for around in _AROUND:
                glued = around.replace("{a}", said).replace("{w}", other)
                yield Payload(before + glued + after, Claim.OTHER_ANSWER, (glued,))
    yield Payload(problem.prompt, Claim.NO_ANSWER)


def _form(right: str, answer: str) -> tuple[str, str, str] | None:
    """The text before the answer, the answer, the text after it; None where it is not found."""
    whole = rf"(?<!\w){re.escape(answer)}(?!\w)" if answer else r"(?!)"
    places = list(re.finditer(whole, right))
    if places:
        return right[: places[-1].start()], answer, right[places[-1].end() :]
    numbers = list(re.finditer(r"-?\d[\d,]*(?:\.\d+)?(?:/\d+)?", right))
    if numbers and any(map(str.isdigit, answer)):
        last = numbers[-1]
        return right[: last.start()], last.group(), right[last.end() :]
    return None


def _edited(answer: str) -> Iterator[str]:
    """The answer with one of its words or numbers changed, dropped, doubled or moved."""
    tokens = list(_TOKEN.finditer(answer))
    for token in _spread(tokens):
        before, said, after = answer[: token.start()], token.group(), answer[token.end() :]
        yield from (before + text + after for text in _changed(said))
        yield before + said + " " + said + after
        yield (before.rstrip(" ,;") + after) if before else after.lstrip(" ,;")
    for first, second in itertools.pairwise(tokens):
        if first.group() != second.group():
            between = answer[first.end() : second.start()]
            swapped = f"{second.group()}{between}{first.group()}"
            yield answer[: first.start()] + swapped + answer[second.end() :]
    if len(tokens) > 1:
        yield answer[: tokens[-1].start()].rstrip(" ,;")
        yield answer[tokens[0].end() :].lstrip(" ,;")
    yield from (answer[:-1], answer[1:], answer[:1], answer[::-1], answer * 2)


def _relisted(answer: str) -> Iterator[str]:
    """The answer with the items of its list, or of its object, dropped, doubled or moved."""
    found = json_of(answer)
    record = record_of(found)
    if isinstance(found, dict):
        yield from map(json.dumps, _records(record))
    sign = "," if found is not None else next((one for one in _SIGNS if one in answer), "")
    head, items, tail = "", answer.split(sign) if sign else [], ""
    if isinstance(found, list):
        values = cast("list[Any]", found)
        head, items, tail = "[", [f" {json.dumps(one)}" for one in values], "]"
    if len(items) > 1 and not isinstance(found, dict):
        moved = (
            items[::-1], [*items[1:], items[0]], [items[1], items[0], *items[2:]],
            [items[0]] * len(items), [*items, items[-1]], [*items[:-1], items[0]],
            items[:-1], items[1:], items[:1], sorted(items),
        )  # fmt: skip
        yield from (head + sign.join(one) + tail for one in moved)


def _records(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An object with one of its values another one, of another type, empty, or gone."""
    for key, value in [*record.items()][:_TOKENS]:
        others: list[Any] = [None, True, str(value), [value], {}]
        if isinstance(value, int | float):
            others += [value + 1, -value, value * 1.004]
        yield from ({**record, key: other} for other in others)
        yield {name: one for name, one in record.items() if name != key}
    yield {}
    yield {**record, "more": 1}


def _spread(tokens: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    step = max(1, -(-len(tokens) // _TOKENS))
    return list(tokens[::step])


def _changed(token: str) -> Iterator[str]:
    if not token[0].isdigit():
        yield from (token[::-1], f"{token}s", token[:1])
        return
    value = float(token)
    if "." not in token:
        yield from (str(int(value) + 1), str(int(value) + 5), f"{token}.4", "nan", "true")
        yield str(int(value * 1.05) + 1)
    else:
        yield from (f"{value * 1.04:.6g}", f"{value + 1:.6g}", str(int(value)), "nan")
