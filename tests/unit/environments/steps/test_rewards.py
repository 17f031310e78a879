"""Weights are refused where they make no sense, and judges that do not work here are named."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest
from tests.unit.environments.steps.pumps import CLEAN, RIGHT, pumped_task

from unhack.core.errors import SandboxError, UsageError
from unhack.environments.environment import RepositoryEnvironment, RepositoryWorkshop
from unhack.environments.episode import StepResult
from unhack.environments.steps import ends, lint, rewards, typing_errors
from unhack.environments.steps.rewards import KINDS, StepRewards
from unhack.environments.steps.score import StepScore


@pytest.mark.parametrize("weight", [math.nan, math.inf, -math.inf, -0.1])
@pytest.mark.parametrize("name", ["progress", "gamma", *KINDS])
def test_no_weight_is_negative_or_not_finite(name: str, weight: float) -> None:
    given: dict[str, Any] = {"judges": {name: weight}} if name in KINDS else {name: weight}
    with pytest.raises(UsageError, match="no number"):
        StepRewards(**given)


@pytest.mark.parametrize(
    ("judges", "words"),
    [
        ({"lints": 0.1}, "'lints' is no judge"),
        ({"lint": 1.1}, "between 0 and 1"),
        ({"lint": 0.6, "build": 0.6}, "more than 1 in all"),
    ],
)
def test_judges_take_no_more_than_the_outcome(judges: dict[str, float], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        StepRewards(judges=judges)


def test_a_judge_without_its_tool_is_refused_before_the_first_episode(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rewards, "find_ruff", lambda: "")
    monkeypatch.setattr(rewards, "find_pyright", lambda: "")
    with pytest.raises(UsageError, match=r"lint needs ruff; types needs pyright.*install it"):
        RepositoryWorkshop(rewards=StepRewards(judges={"lint": 0.1, "types": 0.1}))
    assert StepRewards(judges={"lint": 0.0, "build": 0.1}).missing() == ""


def played(judges: dict[str, float], *actions: Any) -> list[StepResult]:
    async def main() -> list[StepResult]:
        async with RepositoryWorkshop(slots=1, rewards=StepRewards(judges=judges)) as workshop:
            episode = workshop.begin(pumped_task())
            return [await episode.step(one) for one in actions]

    return asyncio.run(main())


@pytest.mark.slow
def test_judges_are_paid_once_at_the_end_and_without_an_outcome_never() -> None:
    right, ended = played({"minimality": 0.5}, *CLEAN)
    assert (right.reward, right.process) == (0.0, {})
    assert (ended.reward, ended.process) == (1.0, {"minimality": 1.0})
    [idle] = played({"minimality": 0.5, "tampering": 0.5}, CLEAN[-1])
    assert (idle.reward, idle.process) == (0.0, {})


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["#!/bin/sh\necho '[]'\n", "#!/bin/sh\nexit 1\n"])
def test_a_tool_that_finds_no_planted_fault_is_named_before_the_first_episode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    program = tmp_path / "ruff"
    program.write_text(tool)
    program.chmod(0o755)
    monkeypatch.setattr(lint, "find_ruff", lambda: str(program))

    async def main() -> None:
        weights = StepRewards(judges={"lint": 0.5})
        async with RepositoryEnvironment([pumped_task()], rewards=weights) as env:
            await env.reset(seed=0)

    with pytest.raises(UsageError, match=r"lint (cannot judge the reference|finds no planted)"):
        asyncio.run(main())
    [_, ended] = played({"lint": 0.5}, *CLEAN)
    assert (ended.scored, ended.reward) == (False, 0.0)


@pytest.mark.slow
def test_what_breaks_a_judge_scores_nothing_and_a_broken_judge_is_unscored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores = {"now": 1.0, "control": 1.0}

    async def judged(self: Any, kind: str, files: Any, whole: Any) -> StepScore:
        if "unhack_control.py" in files:
            return StepScore(kind, 0.0, "")
        of_right = files["shapes/core.py"] == RIGHT.encode()
        return StepScore(kind, scores["control" if of_right else "now"], "broken")

    monkeypatch.setattr(ends.EndJudge, "_score", judged)
    other = CLEAN[0].__class__("shapes/core.py", RIGHT + "\n")
    scores["now"] = None  # type: ignore[assignment]
    assert played({"lint": 0.5}, other, CLEAN[-1])[-1].reward == 0.5

    async def fails_later() -> None:
        async with RepositoryWorkshop(
            slots=1, rewards=StepRewards(judges={"lint": 0.5})
        ) as workshop:
            episode = workshop.begin(pumped_task())
            assert await workshop.check(episode.task) == ""  # type: ignore[arg-type]
            scores["control"] = None  # type: ignore[assignment]
            await episode.step(other)
            ended = await episode.step(CLEAN[-1])
            assert (ended.scored, ended.reward) == (False, 0.0)
            judge = episode.parts.ends
            assert judge is not None
            with pytest.raises(SandboxError, match="cannot judge the reference"):
                await judge.share(episode.state)

    asyncio.run(fails_later())


def test_tools_are_looked_for_where_the_judges_look() -> None:
    assert rewards.find_ruff is lint.find_ruff
    assert rewards.find_pyright is typing_errors.find_pyright
