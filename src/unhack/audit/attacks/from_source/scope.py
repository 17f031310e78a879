"""Names of the verifier's own scope, for one that evaluates the completion there.

What is evaluated has to become what the verifier makes of a right answer: a text, its words, its
rows, the first of several right ones. So each name is tried in the forms that it may want.

Covered: names that hold the right answer where the source evaluates the completion.
Not covered: scopes that only run time shows; `eval/frames` looks into those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.attacks.from_source.answers import frames
from unhack.audit.static_analysis.suspicions import hints_of

_FLAW = "eval_of_completion"
_TELLING = re.compile(r"answer|solution|gold|expect|target|truth|label|correct|oracle|ref", re.I)
_MOST = 2
"""Names that are tried, those first that are called like an answer."""
_SHAPES = (
    "{}",
    "{}.split()",
    "[row.split() for row in {}.splitlines()]",
    "list({})",
    "[list(row) for row in {}.splitlines()]",
    "{}[0]",
    "[row.split() for row in {}[0].splitlines()]",
    "{}[0].split()",
    "next(iter({}))",
    "eval({})",
    "float({})",
    "{}.strip()",
)
"""Expressions of a name that a comparison may want."""
_KEYS = ("answer", "ground_truth", "target", "solution")


def names_in_scope(known: Knowledge) -> list[str]:
    """Names that the source has where it evaluates the completion, the likeliest first."""
    names = [hint for hint in hints_of(known.source, _FLAW) if hint.isidentifier()]
    return sorted(names, key=lambda name: _TELLING.search(name) is None)


def _scope(known: Knowledge) -> Iterable[Payload]:
    names = names_in_scope(known)
    texts = [shape.replace("{}", name) for name in names[:_MOST] for shape in _SHAPES]
    texts += [f"{name}[{key!r}]" for name in names for key in _KEYS][: _MOST * len(_KEYS)]
    form = frames(known)[0]
    for text in texts:
        yield Payload(form.write(text), Claim.NO_ANSWER, (), "a name of the verifier's scope")


ATTACKS: tuple[Attack, ...] = (
    Attack("source/scope", _FLAW, 2, False, _scope, generic=True, of_prompt=True),
)
