"""Parts of pages that show what became of a completion: its status, texts side by side, a diff.

Covered: texts of completions, tasks and checkers are escaped here. Not covered: which of them a
page shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from unhack.core.verdict import Status
from unhack.reporting.text import safe

TONES = {
    Status.PASSED: "good",
    Status.FAILED: "bad",
    Status.ERROR: "warm",
    Status.TIMEOUT: "unsure",
    Status.LIMIT: "unsure",
    Status.INVALID: "cool",
    Status.UNSCORED: "grey",
}
"""Status -> tone of the stylesheet."""
_MARKS = {"-": "good", "+": "bad", "…": "soft"}


class ExplainedCase(Protocol):
    """A case as `unhack.tasks.explain` explains it; see the fields of its `Explanation`."""

    @property
    def case(self) -> int | None: ...
    @property
    def input(self) -> str: ...
    @property
    def expected(self) -> str: ...
    @property
    def obtained(self) -> str: ...
    @property
    def note(self) -> str: ...
    @property
    def lines(self) -> bool: ...

    def diff(self) -> list[tuple[str, str]]:
        """(mark, line) pairs: `-` expected, `+` obtained."""
        ...


def status_badge(status: Status) -> str:
    """The status as a badge."""
    return badge(status.value, TONES[status])


def badge(word: str, tone: str) -> str:
    """A word as a badge in a tone of the stylesheet."""
    return f'<span class="badge tone-{tone}">{safe(word)}</span>'


def facts(values: Mapping[str, str]) -> str:
    """Names with their texts."""
    cells = "".join(
        f"<dt>{safe(name)}</dt><dd>{safe(text, most=1000)}</dd>" for name, text in values.items()
    )
    return f'<dl class="facts">{cells}</dl>'


def box(name: str, html: str) -> str:
    """Preformatted HTML below its name."""
    return f'<div><p class="label">{safe(name)}</p><pre>{html}</pre></div>'


def explained(case: ExplainedCase, *, most: int) -> str:
    """The texts of a case side by side, each of at most `most` letters, with its note."""
    of = "" if case.case is None else f" of case {case.case + 1}"
    sides = {f"input{of}": case.input}
    if not case.lines:
        sides |= {"expected": case.expected, "obtained": case.obtained}
    boxes = [box(name, safe(text, most=most)) for name, text in sides.items() if text]
    if case.lines:
        boxes.append(box("- expected, + obtained", _diff(case.diff())))
    html = f'<div class="sides">{"".join(boxes)}</div>' if boxes else ""
    return html + (f'<p class="soft small note">{safe(case.note)}</p>' if case.note else "")


def _diff(lines: Iterable[tuple[str, str]]) -> str:
    return "\n".join(
        f'<span class="{_MARKS.get(mark, "same")}">{safe(f"{mark} {line}")}</span>'
        for mark, line in lines
    )
