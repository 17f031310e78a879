"""One page of HTML to browse judged completions: summary, filters, each completion with its failed
case.

Covered: what completions, tasks and checkers wrote is text and nothing else; the page has no script
and loads nothing; its size is bounded, and it says what was left out. Filters are two lists of
choices and rules of style.
Not covered: who may read it: it holds inputs and expected answers, for the author of the task.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from unhack.cli.score.screen import Scoring
from unhack.core.verdict import Status, Verdict
from unhack.reporting.outcome import explained, status_badge
from unhack.reporting.outcome import facts as fact_list
from unhack.reporting.page import card, document, section, table, top
from unhack.reporting.text import safe
from unhack.tasks.batch import Batch
from unhack.tasks.explain import explain

MAX_ITEMS = 10_000
"""Completions on a page; of more, those that did not pass come first."""
MAX_PAGE_CHARS = 15_000_000
"""Beyond it, completions are listed without their texts."""
_MAX_TEXT_CHARS = 5_000_000
"""Characters of completions before escaping, shared out among them."""
_LONGEST, _SHORTEST = 20_000, 400
_MAX_TASKS, _MAX_REASONS = 300, 15
_CASE = re.compile(r"^case \d+ of \d+: ")


def page(work: Scoring, batch: Batch) -> str:
    """The whole page."""
    chosen = _chosen(batch.verdicts)
    bases = list(dict.fromkeys(_base(work, index) for index in chosen))
    title = bases[0] if len(bases) == 1 else f"{len(bases)} tasks"
    filtered = bases if 1 < len(bases) <= _MAX_TASKS else []
    return document(
        f"unhack score: {title}",
        [
            _summary(work, batch, title),
            _reasons(batch.verdicts),
            _by_task(work, batch.verdicts),
            _browser(work, batch, chosen, filtered),
        ],
    )


def _base(work: Scoring, index: int) -> str:
    return work.tasks[index].id.partition("#")[0]


def _chosen(verdicts: Sequence[Verdict]) -> list[int]:
    """The completions that the page shows, in order."""
    order = sorted(range(len(verdicts)), key=lambda index: (verdicts[index].passed, index))
    return sorted(order[:MAX_ITEMS])


def _summary(work: Scoring, batch: Batch, title: str) -> str:
    counts = Counter(verdict.status for verdict in batch.verdicts)
    count, report = len(batch.verdicts), batch.report()
    mean = "-" if report.mean_reward is None else f"{report.mean_reward:.3f}"
    figures = {
        "completions": f"{count:,}",
        "pass rate": f"{counts[Status.PASSED] / count:.1%}" if count else "-",
        "mean score": mean,
        **{f"pass@{k}": f"{batch.pass_at_k(k):.3f}" for k in _ks(batch)},
        **{status.value: f"{counts[status]:,}" for status in Status if counts[status]},
    }
    why = "What each completion was worth, and why."
    if work.estimator is not None:
        why += (
            f" {report.groups:,} groups, of which {report.no_signal:.0%} have equal rewards and "
            "give no gradient."
        )
    return top(f"unhack score: {safe(title)}", why=why, figures=figures)


def _ks(batch: Batch) -> list[int]:
    """The k of pass@k: powers of two, and the size of the smallest group."""
    scored = [sum(batch.verdicts[i].scored for i in group) for group in batch.group_indices]
    least = min(scored, default=0)
    if least < 2:
        return []
    return sorted({least, *(k for k in (1, 2, 4, 8, 16, 32, 64, 128) if k < least)})


def _reasons(verdicts: Sequence[Verdict]) -> str:
    found = Counter(
        (verdict.status, _CASE.sub("", verdict.reason))
        for verdict in verdicts
        if not verdict.passed
    )
    if not found:
        return ""
    rows = [
        [status_badge(status), safe(reason or "-", most=300), f"{count:,}"]
        for (status, reason), count in found.most_common(_MAX_REASONS)
    ]
    left = len(found) - len(rows)
    note = f"{left:,} rarer reasons are left out." if left else ""
    return section(
        "Why completions did not pass",
        card(table(["outcome", "reason", "completions"], rows, words=(0, 1)), note=note),
    )


def _by_task(work: Scoring, verdicts: Sequence[Verdict]) -> str:
    grouped: dict[str, list[Verdict]] = {}
    for index, verdict in enumerate(verdicts):
        grouped.setdefault(_base(work, index), []).append(verdict)
    if len(grouped) < 2:
        return ""
    rows = [
        [
            safe(name, most=200),
            f"{len(items):,}",
            f"{sum(item.passed for item in items) / len(items):.1%}",
            _mean([item.score for item in items if item.score is not None]),
        ]
        for name, items in list(grouped.items())[:_MAX_TASKS]
    ]
    left = len(grouped) - len(rows)
    note = f"{left:,} more tasks are left out." if left else ""
    heads = ["task", "completions", "pass rate", "mean score"]
    return section("Tasks", card(table(heads, rows), note=note))


def _mean(scores: Sequence[float]) -> str:
    return f"{sum(scores) / len(scores):.3f}" if scores else "-"


def _browser(work: Scoring, batch: Batch, chosen: Sequence[int], bases: Sequence[str]) -> str:
    statuses = [
        status for status in Status if any(batch.verdicts[i].status is status for i in chosen)
    ]
    number = {name: place for place, name in enumerate(bases)}
    share = max(_SHORTEST, min(_LONGEST, _MAX_TEXT_CHARS // max(1, len(chosen))))
    advantages = batch.advantages(work.estimator) if work.estimator else None
    parts: list[str] = []
    size = bare = 0
    for index in chosen:
        facts = _facts(work, batch.verdicts[index], index)
        if advantages is not None:
            kept = "" if advantages.mask[index] else " (left out of the loss)"
            facts["advantage"] = f"{advantages.values[index]:+.3f}{kept}"
        body = fact_list(facts)
        if size < MAX_PAGE_CHARS:
            body += _texts(work, batch.verdicts[index], index, share)
        else:
            bare += 1
        parts.append(_item(work, batch.verdicts[index], index, number, body))
        size += len(parts[-1])
    notes = [f"Texts longer than {share:,} characters lose their middle."]
    if left := len(batch.verdicts) - len(chosen):
        notes.append(f"{left:,} of {len(batch.verdicts):,} completions are left out (passed ones "
                     "first); --json gives all of them.")  # fmt: skip
    if bare:
        notes.append(f"The last {bare:,} are listed without their texts, as the page is full.")
    style = _filter_style(statuses, len(bases))
    choices = _choices(statuses, bases) if len(statuses) > 1 or bases else ""
    note = f'<p class="soft small note">{" ".join(notes)}</p>'
    return section("Completions", f"{style}{choices}{note}{''.join(parts)}")


def _choices(statuses: Sequence[Status], bases: Sequence[str]) -> str:
    lists = [_choice("outcome", "outcomes", [(s.value, s.value) for s in statuses])]
    if bases:
        named = [(str(place), name) for place, name in enumerate(bases)]
        lists.append(_choice("task", "tasks", named))
    return f'<div class="picks">{"".join(lists)}</div>'


def _choice(name: str, several: str, items: Sequence[tuple[str, str]]) -> str:
    options = "".join(
        f'<option value="{value}">{safe(label, most=120)}</option>' for value, label in items
    )
    return (
        f'<label>{name} <select id="by-{name}" autocomplete="off">'
        f'<option value="">all {several}</option>{options}</select></label>'
    )


def _filter_style(statuses: Sequence[Status], tasks: int) -> str:
    """Rules that hide what is not chosen; the values are ours, never text from outside."""
    pairs = [("outcome", status.value, f"o-{status.value}") for status in statuses]
    pairs += [("task", str(place), f"k{place}") for place in range(tasks)]
    rules = (
        f'main:has(#by-{name} option[value="{value}"]:checked) .item:not(.{kind}){{display:none}}'
        for name, value, kind in pairs
    )
    return f"<style>{''.join(rules)}</style>"


def _item(work: Scoring, verdict: Verdict, index: int, number: dict[str, int], body: str) -> str:
    base = _base(work, index)
    kinds = f"item card o-{verdict.status.value}"
    if base in number:
        kinds += f" k{number[base]}"
    name = safe(str(work.id_of(index)), most=120)
    score = "-" if verdict.score is None else f"{verdict.score:.3g}"
    task = f'<span class="tag">{safe(work.tasks[index].id, most=120)}</span>' if number else ""
    return (
        f'<details class="{kinds}"><summary>{status_badge(verdict.status)} <b>{name}</b> {task} '
        f'<span class="score">{score}</span> {safe(verdict.reason, most=300)}</summary>'
        f"{body}</details>\n"
    )


def _facts(work: Scoring, verdict: Verdict, index: int) -> dict[str, str]:
    usage = verdict.usage
    passed = sum(case.passed for case in verdict.cases)
    return {
        "place": work.rows[index].place,
        "task": work.tasks[index].id,
        "score": "none: unscored" if verdict.score is None else f"{verdict.score:.6g}",
        **({"reason": verdict.reason} if verdict.reason else {}),
        **({"cases passed": f"{passed} of {len(verdict.cases)}"} if verdict.cases else {}),
        "time": f"{usage.wall_s:.3f} s, of which {usage.cpu_s:.3f} s on a processor",
        "memory": f"{usage.max_rss_bytes / (1 << 20):.1f} MiB at most",
        "seal": f"{verdict.seal.value}, isolation {verdict.isolation}",
    }


def _texts(work: Scoring, verdict: Verdict, index: int, share: int) -> str:
    found = explain(work.tasks[index], verdict)
    failure = "" if found is None else explained(found, most=share)
    text = safe(work.rows[index].completion, most=share)
    return f'{failure}<div class="block"><p class="label">completion</p><pre>{text}</pre></div>'
