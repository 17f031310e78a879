"""Thousands of mixed jobs, hostile ones among them, while fork servers are killed at random.

`benchmarks/soak.py` does the same with a hundred thousand.
"""

import os
from typing import Any

import pytest
from stage import USER, launch_json

OWN = os.getuid()
TIMEOUT_S = 1800
MAX_MEMORY_GROWN_BYTES = 64 << 20
PARAMETERS = [
    pytest.param(OWN, 600, 7, id="600", marks=[pytest.mark.slow, pytest.mark.sample]),
    pytest.param(OWN, 5000, 11, id="5000", marks=pytest.mark.slow),
]
if OWN == 0:
    PARAMETERS.append(pytest.param(USER, 5000, 13, id="user-5000", marks=pytest.mark.slow))


@pytest.mark.parametrize(("uid", "count", "seed"), PARAMETERS)
def test_every_verdict_comes_once_and_is_right_and_nothing_leaks(uid: int, count: int, seed: int):
    found: dict[str, Any] = launch_json(
        "soak_run.py", str(count), str(seed), uid=uid, timeout_s=TIMEOUT_S
    )
    assert found["once"]
    assert (found["wrong"], found["faults"]) == (0, {})
    assert found["kills"] > 0
    assert found["uid"] == uid
    assert sum(found["statuses"].values()) == count
    assert found["left"] == []
    assert found["damage"] == []
    assert found["memory_grown_bytes"] < MAX_MEMORY_GROWN_BYTES
