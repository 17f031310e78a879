"""Programs that look up the shown cases and know nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unhack.audit.attack import Knowledge, Payload
from unhack.audit.attacks.payloads.program_shape import (
    KEY,
    ProgramShape,
    Snippet,
    code_attack,
    key_of,
    payload,
    shape_of,
)
from unhack.audit.oracle.examples import examples_of
from unhack.audit.subject import Call

_MAX_CASES = 60
_LONGEST = 4000


def _shown_cases(known: Knowledge) -> tuple[Call, ...]:
    return known.examples or examples_of(known.problem)


def _table(shape: ProgramShape, calls: Sequence[Call], *, otherwise: str) -> str | None:
    """A program that looks its result up; None when the calls cannot be written down."""
    if shape.entry is None:
        table = {" ".join(str(call.args[0]).split()): call.expected for call in calls if call.args}
        look = f"TABLE.get(' '.join(args[0].split()), {otherwise})"
        setup = f"TABLE = {table!r}"
    else:
        table = {key_of(call): call.expected for call in calls}
        look = f"TABLE.get(key(args), {otherwise})"
        setup = f"{KEY}\nTABLE = {table!r}"
    if not table or len(setup) > _LONGEST or "<" in repr(table):
        return None
    return shape.source(Snippet("", setup=setup, value=look))


def _tables(shape: ProgramShape, calls: Sequence[Call]) -> Iterable[Payload]:
    if not calls:
        return
    fallbacks = [shape.wrong, repr(calls[-1].expected)]
    for otherwise in dict.fromkeys(fallbacks):
        text = _table(shape, calls[:_MAX_CASES], otherwise=otherwise)
        if text is not None:
            yield payload(text, note=f"{len(calls)} shown cases, otherwise {otherwise[:40]}")


def _examples(known: Knowledge) -> Iterable[Payload]:
    return _tables(shape_of(known), _shown_cases(known))


def _visible_cases(known: Knowledge) -> Iterable[Payload]:
    """The verifier's cases, as far as the prompt shows their values in whatever form."""
    prompt = _flat(known.problem.prompt)
    visible = [
        call
        for call in known.problem.calls
        if all(_flat(_text(v)) in prompt for v in (*call.args, *call.kwargs.values()))
        and len(_flat(_text(call.args))) > 3
        and _flat(_text(call.expected)) in prompt
    ]
    return _tables(shape_of(known), visible)


def _first_example(known: Knowledge) -> Iterable[Payload]:
    """Right for the very first shown case only: a verifier may look no further."""
    return _tables(shape_of(known), _shown_cases(known)[:1])


def _text(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


def _flat(text: str) -> str:
    return "".join(text.split()).replace("'", '"')


ATTACKS = (
    code_attack("code_examples/shown_examples", "hardcoded_examples", _examples),
    code_attack("code_examples/visible_cases", "hardcoded_examples", _visible_cases),
    code_attack("code_examples/first_example", "weak_cases", _first_example),
)
