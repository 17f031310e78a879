"""Claims about what is stored: identical completions, outputs of cases, and for how long."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from unhack.core.verdict import CaseResult, Status, Verdict
from unhack.server.access.caller import Grant
from unhack.server.app import make_app
from unhack.server.database.schema import batches, inline_tasks, items
from unhack.server.scoring.outputs import MOST_BYTES, outputs_text
from unhack.server.service import ServerSettings, Service

from ..requests import BOTH, ENDLESS, FOUR, PLUS_ONE, RIGHT, WRONG, bearer  # noqa: TID252

DAY = 86_400.0


def count(service: Service, table: sa.Table) -> int:
    asked = sa.select(sa.func.count()).select_from(table)
    return service.database.read(lambda connection: connection.execute(asked).scalar_one())


@pytest.mark.parametrize("database", BOTH, indirect=True)
def test_identical_completions_of_a_batch_are_judged_once_and_stored_each(
    client: TestClient, service: Service, key: str
) -> None:
    judged: list[str] = []
    judge = service.scoring.judge_in_slot

    async def counting(tenant: int, task: object, text: str, **more: object) -> Verdict:
        judged.append(text)
        return await judge(tenant, task, text, **more)  # type: ignore[arg-type]

    service.scoring.judge_in_slot = counting  # type: ignore[method-assign, assignment]
    listed = [
        {"task": task, "completion": text}
        for task, text in [
            (PLUS_ONE, RIGHT), (FOUR, RIGHT), (PLUS_ONE, WRONG), (PLUS_ONE, RIGHT),
            (FOUR, "\\boxed{4}"), (PLUS_ONE, RIGHT), (PLUS_ONE, WRONG),
        ]
    ]  # fmt: skip
    reply = client.post("/v1/batches", json={"items": listed}, headers=bearer(key)).json()
    assert reply["rewards"] == [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0]
    assert sorted(judged) == sorted([RIGHT, RIGHT, WRONG, "\\boxed{4}"])
    assert reply["judged"] == len(reply["verdicts"]) == 7
    assert reply["verdicts"][0]["verdict"] == reply["verdicts"][5]["verdict"]
    path = f"/v1/batches/{reply['id']}/items"
    same = [client.get(f"{path}/{n}", headers=bearer(key)).json()["same_as"] for n in range(7)]
    assert same == [None, None, None, 0, None, 0, 2]
    assert service.limits.open == 0


def test_outputs_of_failing_cases_are_stored_and_shown_to_readers(
    client: TestClient, service: Service, key: str, other_key: str
) -> None:
    body = {"task": PLUS_ONE, "completions": [WRONG, RIGHT]}
    made = client.post("/v1/batches", json=body, headers=bearer(key)).json()["id"]
    path = f"/v1/batches/{made}/items/0"
    found = client.get(path, headers=bearer(key)).json()
    assert found["completion"] == WRONG
    assert found["outputs"][0]["output"] == "0"
    assert client.get(f"/v1/batches/{made}/items/2", headers=bearer(key)).status_code == 404
    assert client.get(path, headers=bearer(other_key)).status_code == 404
    scores = service.directory.add_key("alpha", [Grant.SCORE])
    assert client.get(path, headers=bearer(scores)).status_code == 403


def test_a_server_told_to_keep_no_outputs_keeps_none(tmp_path: Path) -> None:
    service = Service(ServerSettings(data=tmp_path, outputs=False))
    key = service.directory.add_key("alpha", list(Grant))
    with TestClient(make_app(service)) as client:
        body = {"task": PLUS_ONE, "completion": WRONG}
        made = client.post("/v1/score", json=body, headers=bearer(key)).json()["batch"]
        found = client.get(f"/v1/batches/{made}/items/0", headers=bearer(key)).json()
    assert (found["outputs"], found["reward"]) == ([], 0.0)


def test_outputs_of_one_verdict_are_bounded() -> None:
    cases = tuple(CaseResult(number == 3, output="\U0001f600" * 5000) for number in range(50))
    text = outputs_text(Verdict(Status.FAILED, 0.0, cases=cases))
    assert text is not None
    assert len(text.encode()) <= MOST_BYTES
    few = tuple(CaseResult(number in (0, 3), output=f"o{number}") for number in range(6))
    shown = json.loads(outputs_text(Verdict(Status.FAILED, 0.0, cases=few)) or "")
    assert [each["case"] for each in shown] == [0, 1, 2, 4, 5]
    assert outputs_text(Verdict(Status.PASSED, 1.0)) is None


@pytest.mark.slow
@pytest.mark.parametrize("database", BOTH, indirect=True)
def test_what_ended_long_ago_goes_with_its_key_and_what_is_open_stays(
    client: TestClient, service: Service, key: str
) -> None:
    once = bearer(key, **{"Idempotency-Key": "one"})
    body = {"task": FOUR, "completions": ["a", "\\boxed{4}", "a"]}
    old = client.post("/v1/batches", json=body, headers=once).json()["id"]
    slow = {"task": {**PLUS_ONE, "wall_s": 60.0}, "completions": [ENDLESS, RIGHT], "wait": False}
    open_one = client.post("/v1/batches", json=slow, headers=bearer(key)).json()["id"]
    assert service.pruning.prune(time.time() - DAY) == (0, 0)
    assert service.pruning.prune(time.time() + DAY) == (1, 0)
    assert client.get(f"/v1/batches/{old}", headers=bearer(key)).status_code == 404
    assert client.get(f"/v1/batches/{open_one}", headers=bearer(key)).json()["count"] == 2
    assert (count(service, batches), count(service, items)) == (1, 2)
    assert count(service, inline_tasks) == 1
    again = client.post("/v1/batches", json=body, headers=once).json()
    assert again["id"] != old
    assert again["rewards"] == [0.0, 1.0, 0.0]
    client.delete(f"/v1/batches/{open_one}", headers=bearer(key))


@pytest.mark.slow
def test_a_task_that_was_pruned_while_it_is_remembered_is_stored_again(
    client: TestClient, service: Service, key: str
) -> None:
    body = {"task": FOUR, "completion": "\\boxed{4}"}
    client.post("/v1/score", json=body, headers=bearer(key))
    service.pruning.prune(time.time() + DAY)
    assert count(service, inline_tasks) == 0
    for ready in list(service.names._ready):  # pyright: ignore[reportPrivateUsage]
        known = service.names._ready[ready]  # pyright: ignore[reportPrivateUsage]
        service.names._ready[ready] = known.__class__(known.task, known.size)  # pyright: ignore[reportPrivateUsage]
    assert client.post("/v1/score", json=body, headers=bearer(key)).json()["reward"] == 1.0
    assert count(service, inline_tasks) == 1
