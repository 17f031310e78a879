"""Claims about tournaments over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

SMALL = {
    "contest": "reward_hacking",
    "agents": ["null"],
    "options": {"track": "detect", "pairs": "4", "dev_pairs": "2"},
    "seed": 3,
}


@pytest.fixture
def order(client: TestClient, headers: dict[str, str]) -> Any:
    return lambda asked: client.post("/v1/tournaments", json=asked, headers=headers)


@pytest.mark.slow
def test_a_tournament_is_played_to_its_end(
    order: Any, client: TestClient, headers: dict[str, str], ended: Any
) -> None:
    job = ended(order(SMALL).json()["id"])
    assert (job["state"], job["error"]) == ("done", None)
    assert job["result"]["finished"] is True
    assert "<html" in client.get(job["page"], headers=headers).text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"contest": "/etc/passwd"}, "contest"),
        ({"contest": "os"}, "contest"),
        ({"agents": []}, "agents"),
        ({"agents": ["codex"]}, "agents"),
        ({"agents": ["mine=sh -c id {prompt}"]}, "agents"),
        ({"agents": ["cheater:no-such"]}, "no-such"),
        ({"options": {"ladder": "/etc/passwd"}}, "ladder"),
        ({"contest": "scaling", "options": {"ladder": "/etc/passwd"}}, "ladder"),
        ({"contest": "quantization", "options": {"model": "/etc"}}, "model"),
        ({"contest": "quantization", "options": {"text": "/etc/passwd"}}, "text"),
        ({"contest": "quantization", "options": {"size": "large"}}, "large"),
        ({"contest": "interp", "options": {"size": "large"}}, "large"),
        ({"contest": "interp", "options": {"device": "cuda"}}, "device"),
        ({"contest": "interp", "options": {"trained": "/etc"}}, "trained"),
        ({"contest": "interp", "options": {"models": "9" * 4000}}, "options"),
        ({"contest": "interp", "options": {"models": "999999"}}, "options.models"),
        ({"options": {"track": "x"}}, "track"),
        ({"rounds": 0}, "rounds"),
        ({"rounds": 1, "impossible": 2}, "impossible"),
        ({"time_limit_s": 0}, "time_limit_s"),
        ({"agent_options": {}}, "agent_options"),
    ],
)
def test_a_wrong_order_names_its_field(order: Any, more: dict[str, Any], said: str) -> None:
    told = order(SMALL | more)
    assert told.status_code in (400, 422)
    assert said in told.json()["error"]["message"]
