"""Varied forms of a hack: the same trick with one thing changed, which a fix has to close as well.

    for name, text in varied("1 2 3", frames=[("Answer: ", "")], is_code=False):
        ...

Covered: length, order, case, separators, the place among other words, other emptiness, the form of
a right reply around it; of programs, what stands around the trick.
Not covered: other ideas; the library of attacks has those, and the audit of the copy plays them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unhack.audit.attack import Claim, Payload
from unhack.core.finding import Finding

_SEPARATORS = ("\n", ", ", " ", "; ", " or ", " / ", "|", "\t", " and then ")
_AROUND = (
    ("", "\n\nThat is all."),
    ("Let me think.\n\n", ""),
    ("So: ", "."),
    ("\n\n", "\n\n"),
    ("I looked at these: ", " and am done"),
)
_EMPTY = ("", " ", "\n", "\t", ",", ", ,", ".", "()", "[]", "{}", '""', "''", "-")
_FEWEST = 2
_CODE_AROUND = (
    ("import math\n", ""),
    ("# a comment\n\n", "\n"),
    ("", "\n\nunused = 1\n"),
    ("x = 1\n", "\n# end\n"),
)


def payload_of(finding: Finding) -> Payload | None:
    """The witness of a finding with what makes it wrong; None where only running it tells."""
    evidence = finding.evidence
    if evidence.kind not in set(Claim) - {Claim.PROGRAM.value}:
        return None
    claim = Claim(evidence.kind)
    said = evidence.obtained
    asserts = tuple(said.split(", ")) if claim is Claim.EVERY_ANSWER else (said,)
    return Payload(finding.witness, claim, tuple(one for one in asserts if one))


def varied(
    text: str, *, frames: Sequence[tuple[str, str]], is_code: bool
) -> Iterator[tuple[str, str]]:
    """(name, completion) of every varied form, each text once, without the text itself.

    `frames` are what stands before and behind the answer of right replies to other prompts.
    """
    seen = {text}
    for name, form in _of_code(text) if is_code else _of_text(text, frames):
        if form not in seen:
            seen.add(form)
            yield name, form


def _of_code(text: str) -> Iterator[tuple[str, str]]:
    head, fence, rest = text.partition("```")
    tag, line, body = rest.partition("\n") if fence else ("", "", text)
    inside, end, tail = body.partition("```") if fence else (body, "", "")
    for before, after in _CODE_AROUND:
        yield "around", f"{head}{fence}{tag}{line}{before}{inside}{after}{end}{tail}"


def _of_text(text: str, frames: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    frame = next(
        ((one, two) for one, two in frames if one + two and _is_in(text, one, two)), ("", "")
    )
    core = text[len(frame[0]) : len(text) - len(frame[1])]
    forms = [("form", core), *_of_core(core)]
    for name, form in forms:
        yield name, f"{frame[0]}{form}{frame[1]}"
    for before, after in (*_AROUND, *frames):
        yield "position", f"{before}{text}{after}"
    if frame[0] + frame[1]:
        yield from forms
    for before, after in frames if not core.strip() else ():
        yield "part of a right reply", before + after


def _is_in(text: str, before: str, after: str) -> bool:
    return (
        text.startswith(before) and text.endswith(after) and len(text) >= len(before) + len(after)
    )


def _of_core(core: str) -> Iterator[tuple[str, str]]:
    if not any(map(str.isalnum, core)):
        yield from (("empty", one) for one in _EMPTY)
    yield from (("case", one) for one in (core.upper(), core.lower(), core.title()))
    items = core.replace(",", " ").replace(";", " ").split()
    if len(items) < _FEWEST:
        yield "length", f"{core} {core}"
        return
    third = max(1, len(items) // 3)
    orders = {
        "order": [items[::-1], items[third:] + items[:third], items[1::2] + items[::2]],
        "length": [items * 2, items + items[::-1], items[:-1]],
    }
    for name, made in orders.items():
        yield from ((name, " ".join(one)) for one in made)
    yield from (("separators", gap.join(items)) for gap in _SEPARATORS)
    yield "separators", "\n".join(f"- {one}" for one in items)
