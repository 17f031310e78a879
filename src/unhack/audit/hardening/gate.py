"""A gate in front of a verifier: it sees only completions whose one final answer is right.

The reading is found, not guessed: it is the strictest that takes the right answer out of every
correct completion that the verifier rewards.

Covered: functions of texts, single or in batches, whose parameters are known by name.
Not covered: programs, decorated functions, coroutines, environments.
"""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

from unhack.audit.hardening.reading import Hook, Reading, read, right
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.parameter_names import ANSWER, COMPLETION
from unhack.audit.subjects.signatures import TEXT

_BATCHES = frozenset({"trl", "open_r1", "openrlhf", "verl_batch", "ms_swift"})
_SINGLE = frozenset({"plain", "plain_predict_first", "verl", "nemo", "reasoning_gym"})
_MARKED = (
    ("\\boxed{", "}"),
    ("<answer>", "</answer>"),
    ("####", ""),
    ("answer:", ""),
    ("=", ""),
    ("[", "]"),
)
_KINDS = {
    r"(?<![\w.+-])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w%]|[.,/:]\d)": "number",
    r"(?<![\w'])[A-Z](?![\w'])": "letter",
}
"""Patterns of answers, and what they are called."""
_LONGEST_MARKER = 40
_NAME = "_only_right_answers"
_REMARK = """\


# Added by `unhack audit --fix`. The function above sees only completions whose one final answer,
# read as the known right ones write it, equals the right answer; all others earn nothing.
"""


@dataclass(frozen=True, slots=True)
class AnswerGate:
    """The text that is appended to a source."""

    text: str
    what: str
    """For people."""


def gate(subject: FunctionSubject, texts: Sequence[tuple[str, str]]) -> AnswerGate | str:
    """The gate for a verifier, or why there is none.

    `texts` are (right completion, right answer), for completions that the verifier rewards.
    """
    hook = _hook(subject)
    if isinstance(hook, str):
        return hook
    ways = readings(texts)
    if not ways:
        return "no one way of reading finds the right answer in every correct completion"
    body = files("unhack.audit.hardening").joinpath("reading.py").read_text(encoding="utf-8")
    entry = subject.target.entry
    text = (
        f"{_REMARK}def {_NAME}(score):\n{textwrap.indent(_without_head(body), '    ')}\n"
        f"    return with_gate(score, {hook!r}, {ways!r})\n\n\n{entry} = {_NAME}({entry})\n"
    )
    return AnswerGate(text, f"a gate before `{entry}`: {_in_words(ways)}")


def _without_head(text: str) -> str:
    """A module's text from its first import on."""
    tree = ast.parse(text)
    first = next(node for node in tree.body if isinstance(node, ast.Import))
    return "".join(text.splitlines(keepends=True)[first.lineno - 1 :]).rstrip("\n")


def _in_words(ways: Sequence[Reading]) -> str:
    how = ways[0]
    parts = [_place(one) for one in ways]
    equal = f"hold the right items {how.items}" if how.items else "equal the right answer"
    by = ", as math-verify compares" if how.algebra else ""
    return f"{', else '.join(parts)} must {equal}{by}; anything else earns nothing"


def _place(how: Reading) -> str:
    where = f"what follows the only `{how.marker}`" if how.marker else "the text"
    if how.begins:
        where += " at the beginning of a line"
    if how.last_line:
        where += " of the last line"
    if how.closer:
        where += f" up to `{how.closer}`"
    return f"the only {_KINDS[how.only]} in {where}" if how.only else where


def _hook(subject: FunctionSubject) -> Hook | str:
    """The parameters of completion and answer, or the reason why they are not known."""
    shape, target = subject.signature, subject.target
    function = target.function
    if subject.script is not None or any(problem.is_code for problem in subject.problems):
        return "completions are programs"
    if shape.name not in _BATCHES | _SINGLE or shape.template != TEXT or shape.factory:
        return f"a gate knows no {shape.name} verifiers of this kind"
    if function is None or not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return "a gate fits plain functions only"
    if target.module.path != target.defined_in.path:
        return "the function stands in another file"
    names = [*shape.positional, *shape.keywords]
    if shape.name == "reasoning_gym":
        return Hook("answer", ("entry", "answer"))
    if shape.name == "openrlhf":
        return Hook("queries", ("labels",), batch=True, prompt="prompts")
    said = [name for name in names if name in COMPLETION and name != shape.completion_in]
    said = [shape.completion_in] if shape.completion_in else said
    right = [name for name in names if name in ANSWER and name not in said]
    if shape.name == "plain_predict_first":
        said, right = names[:1], names[1:2]
    right += sorted(shape.columns & ANSWER) + (["answer"] if shape.takes_more else [])
    if not said or not right:
        return "no parameter is called as a completion or an answer"
    return Hook(said[0], (right[0],), batch=shape.name in _BATCHES)


def readings(texts: Sequence[tuple[str, str]]) -> tuple[Reading, ...]:
    """The fewest and strictest readings that fit every (completion, answer); none where none do.

    The first that reads a completion at all decides, so those with a marker come first.
    """
    texts = list(dict.fromkeys((text.strip(), answer) for text, answer in texts))
    found = list(_readings(texts))
    for order in ("in order", "in any order"):
        found += [how._replace(items=order) for how in found if not how.only and not how.items]
    for how in found:
        if texts and _fits(texts, (how,)):
            return (how,)
    for first, second in itertools.combinations(found, 2):
        if first.marker and texts and _fits(texts, (first, second)):
            return first, second
    for how in (
        found if texts else ()
    ):  # equal only for who knows algebra: a run of the copy decides
        if how.marker and all(read(text, how) is not None for text, _ in texts):
            return (how._replace(algebra=True),)
    return ()


def _fits(texts: Sequence[tuple[str, str]], ways: Sequence[Reading]) -> bool:
    return all(right(text, answer, ways) for text, answer in texts)


def _readings(texts: Sequence[tuple[str, str]]) -> Iterator[Reading]:
    """Ways to read a final answer, the strictest first."""
    yield Reading()
    around = [
        (text[:at], text[at + len(answer) :])
        for text, answer in texts
        if answer and (at := text.lower().rfind(answer.lower())) >= 0
    ]
    marker = _marker([before for before, _ in around])
    known = [(marker, _closer([after for _, after in around]))] if marker else []
    pairs = list(dict.fromkeys([*known, *_MARKED]))
    only = next(
        (
            pattern
            for pattern in _KINDS
            if all(re.fullmatch(pattern, answer, re.ASCII) for _, answer in texts)
        ),
        "",
    )
    for pattern in ("", only) if only else ("",):
        for before, after in pairs:
            shapes = itertools.product((True, False), (False, True), (False, True))
            for begins, last_line, tail in shapes:
                if after or not tail:
                    yield Reading(before, after, last_line, tail, pattern, begins=begins)
        yield Reading(last_line=True, only=pattern)
    if only:
        yield Reading(only=only)


def _marker(before: Sequence[str]) -> str:
    """The text before every answer, cut to whole words."""
    if not before:
        return ""
    lines = [text.rstrip().lower().rpartition("\n")[2] for text in before]
    common = _common_beginning([line[::-1] for line in lines])[::-1]
    cut = any(
        len(line) > len(common) and line[-len(common) - 1].isalnum() and common[:1].isalnum()
        for line in lines
    )
    while cut and common[:1].isalnum():
        common = common[1:]
    common = common.strip()
    if len(before) < 2:  # one text alone does not show what is fixed in it
        common = common.rpartition(" ")[2]
    return common if 0 < len(common) <= _LONGEST_MARKER and not common.isalnum() else ""


def _closer(after: Sequence[str]) -> str:
    """The text behind every answer, up to white space."""
    common = _common_beginning([text.lstrip() for text in after])
    words = common.split()
    return "" if not words or words[0].strip(".!$*") == "" else words[0].rstrip(".!")


def _common_beginning(texts: Sequence[str]) -> str:
    """The beginning that all texts have in common."""
    low, high = min(texts, default=""), max(texts, default="")
    count = next((at for at, sign in enumerate(low) if high[at : at + 1] != sign), len(low))
    return low[:count]
