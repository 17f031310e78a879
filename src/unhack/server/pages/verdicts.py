"""One verdict, explained case by case: input, expected, obtained.

The database keeps the output of the first case and of those that failed, in few bytes, unless the
server was told to keep none. `Judge it again` runs the completion once more, in the sandbox as
before, and shows what came out of every case; nothing of that is stored.

Covered: completions and what they print are text and nothing else, with control and bidirectional
characters as escapes and the middle of long ones left out; a second verdict that differs is said.
A key needs `score` to judge again. Verdicts of this version's JSON; a task that is gone or was
changed is None, and the page says so.
Not covered: who the reader is. Whoever holds a key with `read` sees inputs and expected answers of
what its tenant sent: give a policy's trainer a key with `score` alone. Outputs of cases beyond what
is stored beside the verdict.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import sqlalchemy as sa
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from unhack.core.errors import UnhackError
from unhack.core.verdict import CaseResult, Seal, Status, Usage, Verdict
from unhack.reporting.outcome import TONES
from unhack.server.access.caller import Grant
from unhack.server.database.schema import items
from unhack.server.http.disconnect_watch import until_disconnect
from unhack.server.http.problems import RequestRefused
from unhack.server.pages.batches import batch_of
from unhack.server.pages.frame import ROOM, PageContent, as_reply
from unhack.server.pages.rendering import lasting, render
from unhack.server.pages.sign_in import check_own
from unhack.server.pages.view import (
    View,
    not_there,
    page,
    page_router,
    view_of,
)
from unhack.server.scoring.task_names import TaskNames
from unhack.tasks.explain import explain_case
from unhack.tasks.task import Task

router, score_router = page_router(), page_router(Grant.SCORE)
_HERE = f"{ROOM}/batches"
_LETTERS = 4_000
_MOST_CASES = 100
"""Cases on a page; of more, those that failed come first."""
_PATH = "/batches/{batch}/{position}"


@page(router, _PATH, name="verdict")
def one_verdict(view: View) -> PageContent:
    """The page of a stored verdict."""
    row = _row(view)
    return _page(view, row, None)


def _page(view: View, row: SimpleNamespace, again: Verdict | None) -> PageContent:
    stored = None if row.verdict is None else verdict_of(row.verdict, row.outputs)
    verdict, task = again or stored, task_of(view.service.names, row)
    html = render(
        "verdict.html",
        view=view,
        row=row,
        batch=None if verdict else batch_of(view),
        verdict=verdict,
        top_card=_summary(row, verdict, task) if verdict else None,
        stored=stored,
        again=again,
        may_judge=not view.kept and Grant.SCORE in view.caller.scopes,
        cases=_cases(verdict, task, every=again is not None) if verdict else (),
        answer="" if task is None else task.problem.answer or "",
        prompt="" if task is None else task.problem.prompt,
        known=task is not None,
        most=_LETTERS,
    )
    return PageContent(f"Item {row.position} of {row.batch_id}", (html,), _HERE)


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


def _summary(row: SimpleNamespace, verdict: Verdict, task: Task | None) -> dict[str, Any]:
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
    return {"figures": figures, "facts": words, "tone": TONES[verdict.status]}


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


def _cases(verdict: Verdict, task: Task | None, *, every: bool) -> list[dict[str, Any]]:
    """The cases that are shown, those that failed first where there are too many."""
    ordered = sorted(
        range(len(verdict.cases)), key=lambda place: (verdict.cases[place].passed, place)
    )
    chosen = sorted(ordered[:_MOST_CASES])
    first = next((place for place in chosen if not verdict.cases[place].passed), None)
    return [
        {
            "number": number + 1,
            "opened": number == first,
            "status": Status.PASSED if verdict.cases[number].passed else _status_of(verdict),
            "credit": verdict.cases[number].credit,
            "reason": verdict.cases[number].reason,
            "texts": None if task is None else explain_case(task, verdict, number),
            "ran": every or bool(verdict.cases[number].output),
        }
        for number in chosen
    ]


def _status_of(verdict: Verdict) -> Status:
    return Status.FAILED if verdict.status is Status.PASSED else verdict.status


@score_router.post(_PATH)
async def judge_again(request: Request) -> Response:
    """Judge an item once more."""
    view = view_of(request)
    check_own(request)
    row = await run_in_threadpool(_row, view)
    task = await run_in_threadpool(task_of, view.service.names, row)
    if task is None:
        raise RequestRefused(409, "no_task", "the task of this item is not at hand any more")
    work = view.service.scoring.judge_again(
        row.tenant_id, task, row.completion, most_open=view.caller.items_limit
    )
    try:
        again = await until_disconnect(request, work)
    except UnhackError as error:
        raise RequestRefused(503, "sandbox", str(error)) from None
    return as_reply(await run_in_threadpool(_page, view, row, again))


def verdict_of(text: str, outputs: str | None = None) -> Verdict:
    """The verdict of its `to_json` as text, with stored `outputs` (`outputs_text`) in its cases.

    Raises ValueError for anything else.
    """
    try:
        found: dict[str, Any] = json.loads(text)
        kept = {one["case"]: one for one in json.loads(outputs or "[]")}
        return Verdict(
            Status(found["status"]),
            found["score"],
            found["reason"],
            tuple(_case(case, kept.get(number)) for number, case in enumerate(found["cases"])),
            Usage(**found["usage"]),
            Seal(found["seal"]),
            found["isolation"],
            found["details"],
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"no verdict: {error}") from None


def _case(case: dict[str, Any], kept: dict[str, Any] | None) -> CaseResult:
    shown = {} if kept is None else {"output": kept["output"], "skipped": kept["skipped"]}
    return CaseResult(case["passed"], case["reason"], case["score"], **shown)


def task_of(names: TaskNames, row: SimpleNamespace) -> Task | None:
    """The task of a row of `items`; None where it is not at hand any more."""
    try:
        return names.find(row.tenant_id, row.task)
    except (UnhackError, RequestRefused):
        return None
