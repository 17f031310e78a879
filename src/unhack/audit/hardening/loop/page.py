"""The rounds of hacker, fixer and solver as one HTML page, in the frame of the audit's report.

Covered: what the hacker found, each patch with its diff, the solver's word, siblings, the end; all
texts of others are escaped. Light and dark.
Not covered: the whole audit of each turn; `unhack audit --html` has that.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from unhack.audit.hardening.loop.record import (
    FoundHole,
    HardenedTask,
    LoopEnd,
    LoopRound,
    TriedPatch,
)
from unhack.audit.report.flaws import FLAWS
from unhack.core.finding import FindingKind
from unhack.reporting.page import card, document, section, table, top
from unhack.reporting.text import safe

_TONES = {LoopEnd.CLOSED: "good", LoopEnd.NO_HOLE: "good", LoopEnd.NOT_CLOSED: "bad"}


def loop_page(
    tasks: Sequence[HardenedTask], *, target: str, made: datetime, command: str = ""
) -> str:
    """The whole page; `made` and `command` say when and how it was made."""
    parts = [_top(tasks, target), *map(_task, tasks)]
    facts = {"unhack": version("unhack"), "date": f"{made.astimezone(UTC):%Y-%m-%d %H:%M} UTC"}
    facts |= {"command": command} if command else {}
    rows = "".join(f"<dt>{name}</dt><dd>{safe(text)}</dd>" for name, text in facts.items())
    foot = (
        '<footer class="soft small"><p>A patch stands here only where the hole, and varied forms '
        "of it, earn nothing any more and right work is paid as before.</p>"
        f'<dl class="facts">{rows}</dl></footer>'
    )
    return document(f"hardening of {target}", [*parts, foot])


def _top(tasks: Sequence[HardenedTask], target: str) -> str:
    ends = [one.end for one in tasks]
    [worst, *_] = sorted(ends, key=[LoopEnd.NO_HOLE, LoopEnd.CLOSED].count)
    figures = {
        "tasks": str(len(tasks)),
        "rounds": str(sum(len(one.rounds) for one in tasks)),
        "holes": str(sum(len(each.found) for one in tasks for each in one.rounds)),
        "patches kept": str(sum(bool(one.diff) for one in tasks)),
        "siblings patched": str(sum(each.kept for one in tasks for each in one.siblings)),
        "runs": str(sum(one.calls for one in tasks)),
        "seconds": f"{sum(one.seconds for one in tasks):.1f}",
        "USD of agents": f"{sum(one.cost_usd for one in tasks):.2f}",
    }
    counts = ", ".join(f"{ends.count(end)} {end.value}" for end in LoopEnd if end in ends)
    return top(
        f"Hacker, fixer and solver on <code>{safe(target)}</code>",
        why=safe(tasks[0].why if len(tasks) == 1 else counts),
        figures=figures, word=worst.value.capitalize(), tone=_TONES.get(worst, "unsure"),
    )  # fmt: skip


def _task(task: HardenedTask) -> str:
    tone = _TONES.get(task.end, "unsure")
    parts = [_round(number, one) for number, one in enumerate(task.rounds, 1)]
    mark = "fix" if tone == "good" else "block"
    end = [
        f'<p class="{mark}"><strong class="{tone}">{task.end.value}</strong>: {safe(task.why)}</p>'
    ]
    if task.diff:
        end.append(f'<div class="block"><p class="label">The patch</p>{_pre(task.diff)}</div>')
    if task.siblings:
        rows = [
            (safe(one.name), "takes the patch" if one.kept else "keeps its grader", safe(one.why))
            for one in task.siblings
        ]
        diffs = "".join(_more(f"diff of {one.name}", one.diff) for one in task.siblings if one.diff)
        heads = ("sibling", "", "why")
        end.append(f'<div class="block">{table(heads, rows, words=(0, 1, 2))}{diffs}</div>')
    parts.append(card("".join(end)))
    return section(task.name, "".join(parts))


def _round(number: int, one: LoopRound) -> str:
    holes = "".join(map(_hole, one.found)) or '<p class="soft">The hacker found nothing.</p>'
    patches = "".join(map(_patch, one.patches))
    hacked = any(hole.kind is FindingKind.HACK for hole in one.found)
    if hacked and not one.patches:
        patches = '<p class="soft">No patch was tried.</p>'
    tone = "bad" if hacked else "good"
    return (
        f'<article class="card finding tone-{tone}"><header><h3>Round {number}</h3>'
        f'<span class="badge">{len(one.found)} found</span></header>'
        f'<p class="soft small">Hacker: {safe(one.hackers)} · {safe(one.said)}</p>'
        f'{holes}<div class="block">{patches}</div></article>'
    )


def _hole(hole: FoundHole) -> str:
    kind = hole.kind.value.replace("_", " ")
    title = FLAWS[hole.flaw].title if hole.flaw in FLAWS else hole.flaw
    return (
        f'<div class="block"><p class="label">{safe(title)}</p><p class="soft small">'
        f"<code>{safe(hole.flaw)}</code> · problem <code>{safe(hole.problem)}</code> · "
        f"{kind} by <code>{safe(hole.named)}</code></p>{_pre(hole.witness or '(empty text)')}"
        f"<p>{safe(hole.why_wrong)}</p></div>"
    )


def _patch(patch: TriedPatch) -> str:
    word = "Patch" if patch.kept else "Dropped"
    return (
        f'<p><span class="label">{word}</span> {safe(patch.what)}</p>'
        f'<p class="soft small">Solver: {safe(patch.solver)}</p>{_more("diff", patch.diff)}'
    )


def _more(name: str, diff: str) -> str:
    if not diff:
        return ""
    return f"<details><summary>{safe(name)}</summary>{_pre(diff)}</details>"


def _pre(text: str) -> str:
    return f"<pre>{safe(text)}</pre>"
