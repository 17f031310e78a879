"""Episodes: every end is judged, no policy chooses to go unjudged, step rewards pay back."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.unit.environments.rectangles import RIGHT, WRONG, rectangles

from unhack.core.errors import SandboxError, UsageError
from unhack.core.verdict import Seal, Status
from unhack.environments.actions import ReadFile, RunCommand, RunTests, Submit, WriteFile
from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.episode import Episode, EpisodeLimits, StepResult
from unhack.environments.observation import Refusal
from unhack.environments.steps.rewards import StepRewards
from unhack.sandbox.limits import Limits

pytestmark = pytest.mark.slow

MEND = WriteFile("shapes/core.py", RIGHT)
BREAK = WriteFile("shapes/core.py", WRONG)


def with_episode(use: Callable[[Episode], Awaitable[None]], **options: Any) -> None:
    """Run a test's coroutine with a fresh episode."""

    async def main() -> None:
        async with RepositoryWorkshop(slots=1, **options) as workshop:
            await use(workshop.begin(rectangles()))

    asyncio.run(main())


def played(*actions: Any, **options: Any) -> list[StepResult]:
    """The results of some actions, played on a fresh episode."""
    results: list[StepResult] = []

    async def use(episode: Episode) -> None:
        for action in actions:
            results.append(await episode.step(action))

    with_episode(use, **options)
    return results


def test_a_right_change_wins_and_no_change_loses() -> None:
    assert played(MEND, Submit())[-1].reward == 1.0
    [idle] = played(Submit())
    assert (idle.reward, idle.terminated, idle.truncated) == (0.0, True, False)
    assert idle.outcome is not None
    assert (idle.outcome.status, idle.outcome.seal) == (Status.FAILED, Seal.SEALED)


def test_a_command_changes_the_state_and_equal_files_have_equal_ids() -> None:
    first, second, third = played(
        RunCommand("sed -i 's/+/*/' shapes/core.py"), MEND, RunCommand("rm -rf shapes; ls")
    )
    assert first.state_id == second.state_id != third.state_id
    assert third.observation.text == "tests\n[exit code 0]"


def test_an_episode_that_its_own_limit_cuts_is_judged_as_its_files_stand() -> None:
    cut = played(MEND, ReadFile("shapes/core.py"), limits=EpisodeLimits(turns=2))[-1]
    assert (cut.reward, cut.terminated, cut.truncated) == (1.0, False, True)
    late = played(
        MEND, RunCommand("sleep 60"), limits=EpisodeLimits(commands_s=0.3)
    )[-1]  # fmt: skip
    assert (late.reward, late.truncated, late.observation.limit) == (1.0, True, "wall")


def test_what_is_no_action_is_an_observation_and_too_much_of_it_a_real_zero() -> None:
    sent: list[Any] = [("nonsense", {}), ("read", {}), "text", None, 3, ("write", {"path": "x"})]
    results = played(MEND, *sent, limits=EpisodeLimits(refusals=len(sent)))
    assert all(one.observation.refusal is Refusal.BAD_ACTION for one in results[1:])
    assert [one.terminated for one in results] == [False] * len(sent) + [True]
    assert results[-1].reward == 0.0
    assert results[-1].scored


def test_an_action_between_refusals_begins_the_count_anew() -> None:
    results = played(
        ("x", {}), ReadFile("shapes/core.py"), ("x", {}), limits=EpisodeLimits(refusals=2)
    )
    assert not any(one.ended for one in results)


@pytest.mark.parametrize(
    "script",
    [
        "kill -9 -1; kill -9 $PPID",
        ":(){ :|:& };:",
        pytest.param("head -c 200M /dev/zero > shapes/core.py", marks=pytest.mark.slow),
        "rm -rf /workspace/* /workspace/.[a-z]* ; chmod 0 /workspace",
        "python3 -c 'import os\nwhile True: os.write(1, b\"x\" * 65536)'",
        pytest.param("for n in $(seq 70000); do : > f$n; done", marks=pytest.mark.slow),
        "mkdir -p $(printf 'd/%.0s' $(seq 900)) && mkfifo shapes/core.pyx",
        "exec sleep 1000",
    ],
)
def test_nothing_that_a_command_does_leaves_an_episode_unjudged(script: str) -> None:
    limits = EpisodeLimits(command=Limits(wall_s=3, cpu_s=3, disk_bytes=8 << 20, processes=32))
    *_, last = played(RunCommand(script), Submit(), limits=limits)
    assert last.terminated
    assert (last.reward, last.scored) == (0.0, True)


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos._exit(0)\n",
        "raise SystemExit(0)\n",
        "while True: pass\n",
        "x = bytearray(1 << 40)\n",
        "(" * 100_000,
        "\0",
        "def area(a, b):\n    class E:\n        __eq__ = lambda s, o: True\n    return E()\n",
        "def area(a, b):\n    import os, signal\n    os.kill(os.getppid(), 9)\n",
    ],
)
def test_nothing_that_is_handed_in_leaves_an_episode_unjudged(source: str) -> None:
    write = WriteFile("shapes/core.py", source)
    if source == "\0":
        write = RunCommand("printf '\\0' > shapes/core.py")
    *_, last = played(write, Submit())
    assert (last.reward, last.scored) == (0.0, True)


def test_step_rewards_pay_progress_and_take_it_back_at_the_end() -> None:
    rewards = StepRewards(progress=0.5)
    results = played(MEND, BREAK, MEND, Submit(), rewards=rewards)
    assert [one.process["progress"] for one in results] == [1.0, 0.5, 1.0, 1.0]
    assert [one.reward for one in results] == pytest.approx([0.25, -0.25, 0.25, 0.5])
    assert sum(one.reward for one in results) == pytest.approx(1.0 - 0.25)
    idle = played(Submit(), rewards=rewards)
    assert sum(one.reward for one in idle) == pytest.approx(0.0 - 0.25)


def test_an_episode_that_is_cut_pays_back_too() -> None:
    options: dict[str, Any] = {
        "rewards": StepRewards(progress=0.5), "limits": EpisodeLimits(turns=1)
    }  # fmt: skip
    [cut] = played(MEND, **options)
    assert cut.truncated
    assert cut.reward == pytest.approx(1.0 - 0.25)


def test_forks_go_their_own_ways_and_share_their_verdicts() -> None:
    async def use(episode: Episode) -> None:
        await episode.step(MEND)
        one, two, three = episode.fork(3)
        assert {fork.state_id for fork in (one, two, three)} == {episode.state_id}
        await two.step(BREAK)
        ends = [await fork.step(Submit()) for fork in (one, two, three)]
        assert [end.reward for end in ends] == [1.0, 0.0, 1.0]
        assert episode.parts.judge.judged == 2
        assert not episode.ended
        with pytest.raises(UsageError):
            one.fork(1)

    with_episode(use)


def test_an_episode_that_has_ended_takes_no_more_actions() -> None:
    async def use(episode: Episode) -> None:
        await episode.step(Submit())
        with pytest.raises(UsageError, match="ended"):
            await episode.step(Submit())

    with_episode(use)


def test_an_episode_whose_supervisor_is_killed_goes_on_from_its_last_state() -> None:
    async def use(episode: Episode) -> None:
        await episode.step(MEND)
        running = asyncio.ensure_future(episode.step(RunCommand("sleep 1; ls shapes")))
        await asyncio.sleep(0.7)
        for pid in episode.parts.commands.supervisor_pids():
            os.kill(pid, signal.SIGKILL)
        result = await running
        assert "core.py" in result.observation.text
        assert (await episode.step(Submit())).reward == 1.0

    with_episode(use)


def test_an_episode_that_the_machinery_loses_is_unscored(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise SandboxError("the machinery is gone")

    async def use(episode: Episode) -> None:
        monkeypatch.setattr(episode.parts.commands, "run", broken)
        result = await episode.step(RunTests())
        assert (result.truncated, result.scored, result.reward) == (True, False, 0.0)
        assert result.outcome is not None
        assert result.outcome.status is Status.UNSCORED

    with_episode(use)


def test_a_command_too_long_for_any_program_is_refused_with_words() -> None:
    [refused] = played(RunCommand("x" * 500_000))
    assert refused.observation.refusal is Refusal.BAD_ACTION
    assert "write a file" in refused.observation.text


def test_files_that_grow_too_large_together_are_not_kept() -> None:
    limits = EpisodeLimits(changed_bytes=1 << 20)
    grow = RunCommand("head -c 900000 /dev/zero > a; cp a b")
    small = RunCommand("head -c 900000 /dev/zero > a")
    first, second, third = played(grow, small, small, limits=limits)
    assert first.observation.refusal is Refusal.TOO_LARGE
    assert first.state_id != second.state_id == third.state_id


def test_a_regular_expression_is_matched_in_the_sandbox() -> None:
    found, hostile, nothing = played(
        ("search", {"text": "de[f] a", "regex": True}),
        ("search", {"text": "(a*)*" * 30 + "$", "regex": True}),
        ("search", {"text": "zz+", "regex": True}),
        limits=EpisodeLimits(command=Limits(wall_s=3, cpu_s=3)),
    )
    assert found.observation.text.splitlines()[0] == "shapes/core.py:1:def area(a, b):"
    assert not hostile.ended
    assert nothing.observation.text == "[no line matches]"
