r"""The likeliest form of a completion, with its innermost mark once for every small number.

A verifier may look for the right answer together with what stands around it, such as a box, and
only in one part of the completion: there a row of bare numbers does not hold it.

Covered: boxes, tags and brackets that the answer of a known completion stands in.
Not covered: answers that are no whole numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.attacks.payloads.answer_forms import AnswerForm
from unhack.audit.attacks.payloads.slots import slots

_OPENED = re.compile(r"(\\\w+\{|<\w+>|[\[({])\s*$")
_CLOSED = re.compile(r"\s*(</\w+>|[\])}])")
_BOX = ("\\boxed{", "}")
_SHOWN = ("0", "1", "2", "10", "100")
_RANGES = (range(-100, 1001), range(1001), range(101))


def mark_of(form: AnswerForm) -> tuple[str, str]:
    """The signs right before and right behind the answer in a form; of a box where it has none."""
    opened, closed = _OPENED.search(form.before), _CLOSED.match(form.after)
    return (opened[1], closed[1]) if opened and closed else _BOX


def _repeated(known: Knowledge) -> Iterable[Payload]:
    form = slots(known)[0]
    assert isinstance(form, AnswerForm)
    opened, closed = mark_of(form)
    inside = _OPENED.search(form.before) is not None and _CLOSED.match(form.after) is not None
    for numbers in _RANGES:
        text = f"{closed} {opened}".join(map(str, numbers))
        text = form.write(text if inside else f"{opened}{text}{closed}")
        yield Payload(text, Claim.EVERY_ANSWER, _SHOWN)


ATTACKS: tuple[Attack, ...] = (
    Attack("repeated/marks", "substring_match", 1, False, _repeated, generic=True, of_prompt=True),
)
