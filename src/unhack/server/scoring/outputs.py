"""The outputs of a verdict's cases, as many as a bound of bytes holds: what a page shows of them.

Covered: the first case, then those that failed, in order; long outputs are shortened.
Not covered: outputs of cases that passed; they are as expected.
"""

from __future__ import annotations

import json

from unhack.core.verdict import Verdict

MOST_BYTES = 4096
"""Bytes of JSON that are kept for one verdict."""
_LONGEST = 1000
"""Bytes of one output in JSON."""


def outputs_text(verdict: Verdict) -> str | None:
    """JSON of `[{"case", "output", "skipped"}]`, cases from 0; None where there is nothing."""
    failed = (number for number, case in enumerate(verdict.cases) if not case.passed and number)
    kept: list[str] = []
    size = 2
    for number in (0, *failed) if verdict.cases else ():
        case = verdict.cases[number]
        if not case.output:
            continue
        shown = {"case": number, "output": _shortened(case.output), "skipped": case.skipped}
        text = json.dumps(shown)
        size += len(text) + 2
        if size > MOST_BYTES:
            break
        kept.append(text)
    return f"[{', '.join(kept)}]" if kept else None


def _shortened(output: str) -> str:
    """The output, or its beginning with a mark that the rest is missing."""
    text = output[:_LONGEST]
    while len(json.dumps(text)) > _LONGEST:
        text = text[: len(text) // 2]
    return text if len(text) == len(output) else f"{text}…"
