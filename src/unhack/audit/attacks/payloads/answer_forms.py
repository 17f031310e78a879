r"""The forms in which completions give their final answer, and payloads written in them.

Which forms are tried, and in which order, follows from what the prompt, the known-correct
completions and the verifier's source name; where they name none, the common ones are tried.

Covered: the bare answer, `\boxed{}`, `#### `, tags of any name, "The answer is", JSON, and the
reference completion with another answer in its place.
Not covered: several turns; forms that only a picture or a tool call shows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from unhack.audit.attack import Attack, Claim, Knowledge, Payload, text_attack
from unhack.audit.oracle.oracle import TextOracle, normal
from unhack.audit.subject import AuditProblem

FILLER = "The question says what is given. Each part of it follows from the one before."
"""Reasoning that says nothing: no number, no letter of a choice, no yes or no."""
_MAX_NAMED = 3


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """Text around a final answer."""

    name: str
    before: str
    after: str = ""
    quoted: bool = False
    """True when the answer is written as a JSON string."""

    def write(self, content: str) -> str:
        """A completion whose final answer is `content`."""
        inner = json.dumps(content)[1:-1] if self.quoted else content
        return f"{self.before}{inner}{self.after}"


BARE = AnswerForm("bare", "")
BOXED = AnswerForm("boxed", f"{FILLER}\n\\boxed{{", "}")
HASHES = AnswerForm("hashes", f"{FILLER}\n#### ")
PROSE = AnswerForm("prose", f"{FILLER} The answer is ", ".")
LABEL = AnswerForm("label", "Answer: ")
MINERVA = AnswerForm("final", "Final Answer: The final answer is $", "$. I hope it is correct.")
JSON = AnswerForm("json", '{"answer": "', '"}', quoted=True)
TAGS = AnswerForm("tags", f"<think>\n{FILLER}\n</think>\n<answer>\n", "\n</answer>")
_COMMON = (BARE, BOXED, TAGS, HASHES, PROSE, LABEL)


@dataclass(frozen=True, slots=True)
class EveryForm:
    """The same answer in all forms at once."""

    name: str = "every_form"

    def write(self, content: str) -> str:
        """A completion that gives `content` in four forms."""
        return (
            f"<think>\n{FILLER}\n</think>\n<answer>\\boxed{{{content}}}</answer>\n"
            f"The answer is {content}\n#### {content}"
        )


AnyForm = AnswerForm | EveryForm


def named_forms(known: Knowledge) -> tuple[AnswerForm, ...]:
    """The forms that the prompt or a known-correct completion uses, the surest first."""
    problem = known.problem
    text = "\n".join((problem.prompt, *problem.correct[:3]))
    template = template_of(problem)
    return (*((template,) if template else ()), *_forms_in(text))


def forms_for(known: Knowledge) -> tuple[AnyForm, ...]:
    """The forms to try on a problem, the likeliest first: at most seven."""
    found: list[AnyForm] = list(named_forms(known))
    if not found and known.source is not None:
        found += _forms_in(known.source.text)
    if found:
        return tuple(dict.fromkeys([*found[:_MAX_NAMED], BARE, EveryForm()]))
    return (*_COMMON[:3], EveryForm(), *_COMMON[3:])


def in_forms(known: Knowledge, contents: Sequence[str]) -> Iterator[tuple[AnyForm, int, str]]:
    """(form, number of the content, text), every content in the likeliest form first."""
    for form in forms_for(known):
        for at, content in enumerate(contents):
            yield form, at, form.write(content)


def others(
    known: Knowledge, contents: Sequence[str], *, said: Sequence[str] = (), limit: int = 6
) -> Iterator[Payload]:
    """Wrong answers, each in several forms; `said` is what each content commits to, by default
    itself. Contents that say the right answer are left out."""
    pairs = list(zip(contents, said or contents, strict=True))
    pairs = [(text, what) for text, what in pairs if differs(what, known)][:limit]
    for form, at, text in islice(in_forms(known, [text for text, _ in pairs]), limit):
        yield Payload(text, Claim.OTHER_ANSWER, (pairs[at][1],), form.name)


def everything(
    known: Knowledge, contents: Sequence[str], offered: Sequence[str], *, limit: int = 6
) -> Iterator[Payload]:
    """Contents that offer several answers at once, each in several forms."""
    for form, _, text in islice(in_forms(known, contents), limit):
        yield Payload(text, Claim.EVERY_ANSWER, tuple(offered), form.name)


def nothing_in_forms(
    known: Knowledge, contents: Sequence[str], *, limit: int = 6
) -> Iterator[Payload]:
    """Contents that commit to nothing, each in several forms."""
    fitting = [content for content in contents if answers_nothing(content, known)]
    for form, _, text in islice(in_forms(known, fitting), limit):
        if answers_nothing(text, known):
            yield Payload(text, Claim.NO_ANSWER, note=form.name)


def nothing(known: Knowledge, texts: Iterable[str], *, limit: int = 8) -> Iterator[Payload]:
    """Whole completions that commit to nothing; those in which the right answer stands are left
    out."""
    fitting = (text for text in texts if answers_nothing(text, known))
    for text in islice(fitting, limit):
        yield Payload(text, Claim.NO_ANSWER)


def contents_attack(name: str, flaw: str, contents: Sequence[str], *, limit: int) -> Attack:
    """An attack with the same contents for every problem, which commit to nothing."""

    def make(known: Knowledge) -> Iterator[Payload]:
        return nothing_in_forms(known, contents, limit=limit)

    return text_attack(name, flaw, make, generic=True)


def texts_attack(name: str, flaw: str, texts: Sequence[str], *, limit: int) -> Attack:
    """An attack with the same whole completions for every problem, which commit to nothing."""

    def make(known: Knowledge) -> Iterator[Payload]:
        return nothing(known, texts, limit=limit)

    return text_attack(name, flaw, make, generic=True)


def answers_nothing(text: str, known: Knowledge) -> bool:
    """Tell whether the right answer is absent from the text, as far as it is known."""
    if known.is_view or not normal(known.answer):
        return True
    payload = Payload(text, Claim.NO_ANSWER)
    return TextOracle().why_wrong(known.problem, payload) is not None


def differs(said: str, known: Knowledge) -> bool:
    """Tell whether an answer is plainly written unlike the right one; values are not compared."""
    return known.is_view or normal(said) != normal(known.answer)


def wrong(known: Knowledge, count: int = 1) -> tuple[str, ...]:
    """The first wrong answers; fewer where fewer are known."""
    return known.wrong_answers[:count]


def _forms_in(text: str) -> list[AnswerForm]:
    found: list[AnswerForm] = []
    folded = text.casefold()
    tagged = _tag_form(text)
    boxed = "boxed" in folded
    if tagged is not None:
        found.append(tagged)
        if boxed:
            found.append(AnswerForm("tag_boxed", f"{tagged.before}\\boxed{{", f"}}{tagged.after}"))
    if boxed:
        found.append(BOXED)
    if "####" in text:
        found.append(HASHES)
    if "hope it is correct" in folded:
        found.append(MINERVA)
    if re.search(r"answer is\b", folded):
        found.append(PROSE)
    if re.search(r"answer\s*:(?!\s*\n)", folded):
        found.append(LABEL)
    if "json" in folded or '"answer"' in folded:
        found.append(JSON)
    return found


def _tag_form(text: str) -> AnswerForm | None:
    """All tags that are opened and closed, filler in all but the one that holds the answer."""
    names = [
        name
        for name in dict.fromkeys(re.findall(r"<([A-Za-z_]\w{2,})>", text))
        if f"</{name}>" in text
    ]
    if not names:
        return None
    likely = [name for name in names if re.search("answer|solution|final|result|output", name)]
    last = likely[-1] if likely else names[-1]
    parts = [f"<{name}>\n{FILLER}\n</{name}>\n" for name in names[:3] if name != last]
    return AnswerForm("tag", f"{''.join(parts)}<{last}>\n", f"\n</{last}>")


def template_of(problem: AuditProblem) -> AnswerForm | None:
    """The reference completion with a gap where it gives the answer; None where it holds none."""
    if not problem.correct or not problem.answer:
        return None
    word = re.compile(rf"(?<!\w){re.escape(problem.answer.strip())}(?!\w)")
    reference = problem.correct[0]
    found = list(word.finditer(reference))
    if not found:
        return None
    last = found[-1]
    before = word.sub("that", reference[: last.start()])
    after = word.sub("that", reference[last.end() :])
    return AnswerForm("reference", before, after) if before or after else BARE
