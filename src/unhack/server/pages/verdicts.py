"""One verdict, explained case by case: input, expected, obtained.

The database keeps the output of the first case and of those that failed, in few bytes, unless the
server was told to keep none. `Judge it again` runs the completion once more, in the sandbox as
before, and shows what came out of every case; nothing of that is stored.

Covered: completions and what they print are text and nothing else, with control and bidirectional
characters as escapes and the middle of long ones left out; a second verdict that differs is said.
A key needs `score` to judge again.
Not covered: who the reader is. Whoever holds a key with `read` sees inputs and expected answers of
what its tenant sent: give a policy's trainer a key with `score` alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import sqlalchemy as sa
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from unhack.core.errors import UnhackError
from unhack.core.verdict import Seal, Status, Verdict
from unhack.reporting.outcome import TONES, explained, facts, status_badge
from unhack.reporting.page import card, section, top
from unhack.reporting.text import one_line, safe
from unhack.server.access.caller import Grant
from unhack.server.database.schema import items
from unhack.server.http.api_route import ApiRoute
from unhack.server.http.presence import while_present
from unhack.server.http.problems import RequestRefused
from unhack.server.pages.batches import batch_of
from unhack.server.pages.frame import ROOM, PageContent, as_reply
from unhack.server.pages.sign_in import check_own, refusal
from unhack.server.pages.stored_items import task_of, verdict_of
from unhack.server.pages.view import (
    View,
    as_sentence,
    lasting,
    moment,
    not_there,
    page_route,
    view_of,
)
from unhack.tasks.explain import explain_case
from unhack.tasks.task import Task

_HERE = f"{ROOM}/batches"
_LETTERS, _LONGEST = 4_000, 20_000
_MOST_CASES = 100
"""Cases on a page; of more, those that failed come first."""
_PATH = "/batches/{batch}/{position}"


def one_verdict(view: View) -> PageContent:
    """The page of a stored verdict."""
    row = _row(view)
    return _page(view, row, None)


def _page(view: View, row: SimpleNamespace, again: Verdict | None) -> PageContent:
    stored = None if row.verdict is None else verdict_of(row.verdict, row.outputs)
    verdict, task = again or stored, task_of(view.service.names, row)
    back = view.link("batches", row.batch_id, text=f"Batch <code>{safe(row.batch_id)}</code>")
    parts = [f'<p class="soft small back">{back}</p>']
    if verdict is None:
        parts.append(_no_verdict(batch_of(view)))
    else:
        parts += [
            _summary(row, verdict, task),
            _second_look(view, row, stored, again),
            _cases(verdict, task, every=again is not None),
        ]
    parts += [
        _text("Prompt", task.problem.prompt if task is not None else ""),
        _text("Completion", row.completion) or section("Completion", card("The empty text.")),
        _READER,
    ]
    return PageContent(f"Item {row.position} of {row.batch_id}", tuple(parts), _HERE)


def _no_verdict(batch: SimpleNamespace) -> str:
    if batch.finished_at is None:
        return card("<h1>Not judged yet</h1><p>Reload this page for its verdict.</p>")
    return card(f"<h1>No verdict</h1><p>Its batch is {safe(batch.state)}.</p>")


def _row(view: View) -> SimpleNamespace:
    batch = batch_of(view)
    text = view.given["position"]
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise not_there("item", text)
    rows = view.rows(
        sa.select(items).where(
            items.c.batch_id == batch.id,
            items.c.tenant_id == view.caller.tenant_id,
            items.c.position == int(text),
        )
    )
    if not rows:
        raise not_there("item", text)
    return rows[0]


def _summary(row: SimpleNamespace, verdict: Verdict, task: Task | None) -> str:
    passed = sum(case.passed for case in verdict.cases)
    named = json.loads(row.task)
    figures = {
        "score": "none" if verdict.score is None else f"{verdict.score:.4g}",
        "reward": "none" if row.reward is None else f"{row.reward:.4g}",
        "cases passed": f"{passed} of {len(verdict.cases)}" if verdict.cases else "-",
        "time": lasting(verdict.usage.wall_s),
        "processor": lasting(verdict.usage.cpu_s),
        "memory": f"{verdict.usage.max_rss_bytes / (1 << 20):.1f} MiB",
    }
    name = named if isinstance(named, str) else f"sent with the request ({_digest(named)})"
    words = {
        "task": name,
        "kind": "-" if task is None else type(task.verifier).__name__.removesuffix("Verifier"),
        "seal": _seal(verdict),
        "isolation": verdict.isolation,
    }
    words |= {name: str(value) for name, value in verdict.details.items()}
    why = as_sentence(one_line(verdict.reason, most=1000) or "Every check passed")
    head = top(
        f"Item {row.position}",
        why=f"{safe(why)} Judged {moment(row.judged_at)} UTC.",
        figures=figures,
        word=verdict.status.value.capitalize(),
        tone=TONES[verdict.status],
    )
    return head + section("How it was judged", card(facts(words)))


def _seal(verdict: Verdict) -> str:
    if verdict.seal is Seal.SEALED and verdict.isolation == "none":
        return "nothing was run"
    return f"{verdict.seal.value}: {_SEALS[verdict.seal.value]}"


_SEALS = {
    "sealed": "it ran in a process that never held the answer",
    "as_written": "the verifier ran it in its own process, inside the sandbox",
    "text": "nothing was executed; it was compared as text",
    "host": "a callable judged it in the caller's process",
}


def _digest(named: Any) -> str:
    return str(cast("dict[str, Any]", named).get("inline", ""))[:12]


def _second_look(
    view: View, row: SimpleNamespace, stored: Verdict | None, again: Verdict | None
) -> str:
    if again is not None and stored is not None:
        same = (again.status, again.score) == (stored.status, stored.score)
        said = (
            "It was judged again just now, with the same outcome; outputs are of this run."
            if same
            else f'It was judged again just now: <b class="bad">{again.status.value}</b>, where '
            f"<b>{stored.status.value}</b> is stored. Its outcome depends on more than its text; "
            "the stored verdict stays."
        )
        return f'<p class="block" role="status">{said}</p>'
    if view.kept or Grant.SCORE not in view.caller.scopes:
        return ""
    said = "One more run shows whether the outcome stays the same."
    if stored is not None and stored.cases:
        kept = "The first output and those of failed cases are stored, in few bytes."
        kept = kept if row.outputs else "No outputs are stored."
        said = f"{kept} One more run shows what this completion gives for each case."
    action = safe(f"{ROOM}/batches/{row.batch_id}/{row.position}")
    return (
        f'<form class="block" method="post" action="{action}">'
        f'<p class="small soft note">{said}</p>'
        "<button>Judge it again</button></form>"
    )


def _cases(verdict: Verdict, task: Task | None, *, every: bool) -> str:
    if not verdict.cases:
        return _text("Expected answer", "" if task is None else task.problem.answer or "")
    ordered = sorted(
        range(len(verdict.cases)), key=lambda place: (verdict.cases[place].passed, place)
    )
    chosen = sorted(ordered[:_MOST_CASES])
    first = next((place for place in chosen if not verdict.cases[place].passed), None)
    shown = [_case(verdict, task, number, opened=number == first, every=every) for number in chosen]
    notes: list[str] = []
    if task is None:
        notes.append("The task is not at hand, so inputs and expected answers are not shown.")
    if left := len(verdict.cases) - len(chosen):
        notes.append(f"{left:,} more cases are left out, passed ones first.")
    note = f'<p class="soft small note">{" ".join(notes)}</p>' if notes else ""
    return section("Case by case", note + "".join(shown))


def _case(verdict: Verdict, task: Task | None, number: int, *, opened: bool, every: bool) -> str:
    case = verdict.cases[number]
    badge = status_badge(Status.PASSED if case.passed else _status_of(verdict))
    reason = safe(one_line(case.reason, most=300))
    partial = 0.0 < case.credit < 1.0
    credit = f', credit <span class="score">{case.credit:.3g}</span>' if partial else ""
    body = "".join(_case_body(verdict, task, number, every=every))
    return (
        f'<details class="item card"{" open" if opened else ""}><summary>{badge} '
        f"<b>case {number + 1}</b>{credit} {reason}</summary>"
        f"{body}</details>"
    )


def _status_of(verdict: Verdict) -> Status:
    return Status.FAILED if verdict.status is Status.PASSED else verdict.status


def _case_body(verdict: Verdict, task: Task | None, number: int, *, every: bool) -> Iterator[str]:
    if task is None:
        return
    found = explain_case(task, verdict, number)
    if not every and not verdict.cases[number].output:
        sides = {"input": found.input, "expected": found.expected}
        boxes = [
            f'<div><p class="label">{name}</p><pre>{safe(text, most=_LETTERS)}</pre></div>'
            for name, text in sides.items()
            if text
        ]
        yield f'<div class="sides">{"".join(boxes)}</div>' if boxes else ""
        return
    yield explained(found, most=_LETTERS)


def _text(name: str, text: str) -> str:
    if not text:
        return ""
    note = f"{len(text):,} characters; the middle is left out." if len(text) > _LONGEST else ""
    return section(name, card(f"<pre>{safe(text, most=_LONGEST)}</pre>", note=note))


_READER = section(
    "What a reader may do",
    card(
        "<p>This page holds inputs and expected answers. They are for the author of the task: "
        "never put them into a prompt, a reward or a training set. A trainer's key wants the scope "
        "<code>score</code> and not <code>read</code>.</p>"
    ),
)


async def _judge_again(request: Request) -> Response:
    view = view_of(request)
    try:
        check_own(request)
        row = await run_in_threadpool(_row, view)
        task = await run_in_threadpool(task_of, view.service.names, row)
        if task is None:
            raise RequestRefused(409, "no_task", "the task of this item is not at hand any more")
        work = view.service.scoring.judge_again(
            row.tenant_id, task, row.completion, most_open=view.caller.items_limit
        )
        again = await while_present(request, work)
        return as_reply(await run_in_threadpool(_page, view, row, again))
    except RequestRefused as error:
        return refusal(request, error)
    except UnhackError as error:
        return refusal(request, RequestRefused(503, "sandbox", str(error)))


ROUTES = (
    page_route(_PATH, one_verdict, "One verdict, case by case.", name="verdict"),
    ApiRoute("POST", f"{ROOM}{_PATH}", _judge_again, "Judge an item once more.", Grant.SCORE,
             media="text/html", described=False, refused=refusal),
)  # fmt: skip
