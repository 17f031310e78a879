"""The Gymnasium face: its own check passes, and any text at all is answered."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest
from tests.unit.environments.rectangles import RIGHT, rectangles

pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env

from unhack.integrations.gymnasium import RepositoryEnv
from unhack.integrations.rows import tool_call
from unhack.integrations.sessions import opening_of


@pytest.fixture
def env() -> Any:
    made = RepositoryEnv([rectangles()], render_mode="ansi")
    yield made
    made.close()


def test_gymnasiums_own_check_passes(env: RepositoryEnv) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*due to the environment not having a spec.*")
        check_env(env, skip_close_check=True)


@pytest.mark.slow
def test_an_episode_is_played_with_texts(env: RepositoryEnv) -> None:
    observation, info = env.reset(seed=3)
    assert (observation, info["turn"]) == ("`area` of a rectangle is wrong.", 0)
    call = {"name": "write", "arguments": {"path": "shapes/core.py", "text": RIGHT}}
    assert env.step(json.dumps(call))[1:4] == (0.0, False, False)
    assert env.step("I think I am done.")[0].startswith("there is no action")
    assert env.render() == env.step("[1, 2]")[0]
    assert env.step('{"name": "submit"}')[1:4] == (1.0, True, False)


@pytest.mark.slow
def test_the_shell_lasts_and_edits_are_made_from_texts(env: RepositoryEnv) -> None:
    assert all(f'"name": "{name}"' in opening_of(rectangles()) for name in ("shell", "edit"))
    env.reset(seed=3)
    env.step('{"name": "shell", "arguments": {"command": "cd shapes; file=core.py"}}')
    assert "return a + b" in env.step('{"name": "shell", "arguments": {"command": "cat $file"}}')[0]
    edit = {"path": "shapes/core.py", "old": "a + b", "new": "a * b"}
    assert "return a * b" in env.step(json.dumps({"name": "edit", "arguments": edit}))[0]
    assert env.step('{"name": "submit"}')[1:4] == (1.0, True, False)


@pytest.mark.parametrize("text", ["", "[", "1", "[[" * 10_000, '{"arguments": {}}', "null"])
def test_text_that_is_no_tool_call_is_none(text: str) -> None:
    assert tool_call(text)[0] == ""
