"""The action `shell` in episodes: it lasts, forks apart, is judged by nobody and stops nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.unit.environments.rectangles import RIGHT, rectangles
from tests.unit.sandbox.workspace.test_lasting_shell import HOSTILE, KEPT

from unhack.environments.actions import RunCommand, ShellCommand, Submit, WriteFile
from unhack.environments.environment import RepositoryEnvironment, RepositoryWorkshop
from unhack.environments.episode import Episode, EpisodeLimits
from unhack.environments.observation import Refusal
from unhack.sandbox.limits import Limits

pytestmark = pytest.mark.slow
DROPPED = "[the shell could not be restored: its state is dropped, it begins anew]"
STAYS = "[the shell stays as it stood before: this command's state was not kept]"


def with_episode(use: Callable[[Episode], Awaitable[None]], **options: Any) -> None:
    async def main() -> None:
        async with RepositoryWorkshop(slots=1, **options) as workshop:
            await use(workshop.begin(rectangles()))

    asyncio.run(main())


async def shown(episode: Episode, script: str) -> str:
    return (await episode.step(ShellCommand(script))).observation.text


@pytest.mark.sample
def test_a_fork_goes_on_in_the_shell_and_keeps_it_apart() -> None:
    async def use(episode: Episode) -> None:
        await shown(episode, 'cd shapes; side=none; look() { echo "$side in $PWD"; }')
        left, right = episode.fork(2)
        await shown(left, "side=left; cd ..")
        await shown(right, "side=right")
        for one, text in ((left, "left in /workspace"), (right, "right in /workspace/shapes"),
                          (episode, "none in /workspace/shapes")):  # fmt: skip
            assert (await shown(one, "look")).startswith(f"{text}\n[exit code 0]")

    with_episode(use)


def test_variables_are_no_part_of_the_files_and_files_last_for_every_action() -> None:
    async def use(episode: Episode) -> None:
        start = episode.state_id
        await shown(episode, "export secret=1; cd tests")
        assert episode.state_id == start
        assert (await shown(episode, "ls -A")).splitlines()[0] == "test_core.py"
        result = await episode.step(RunCommand('echo "[$secret] $PWD"; ls -A'))
        assert result.observation.text == "[] /workspace\nshapes\ntests\n[exit code 0]"
        await shown(episode, "echo more > more.txt")
        assert episode.state.read("tests/more.txt") == b"more\n"
        end = await episode.step(Submit())
        assert end.observation.text == "handed in"

    with_episode(use)


@pytest.mark.parametrize("line", [*HOSTILE, "printf '\\0\\0' >&29"])
def test_a_hostile_shell_is_dropped_with_words_and_the_command_runs_in_a_new_one(line: str) -> None:
    async def use(episode: Episode) -> None:
        kept = line.encode(errors="surrogateescape") + b"\n" + KEPT
        episode.shell = kept
        first = await shown(episode, "echo ran; pwd; touch once.txt; ls once* | wc -l")
        assert first == f"ran\n/workspace\n1\n[exit code 0]\n{DROPPED}"
        assert await shown(episode, "echo on; x=3") == "on\n[exit code 0]"
        assert await shown(episode, "echo $x") == "3\n[exit code 0]"
        await episode.step(WriteFile("shapes/core.py", RIGHT))
        assert (await episode.step(Submit())).reward == 1.0

    command = Limits(wall_s=5, cpu_s=60, processes=64)
    with_episode(use, limits=EpisodeLimits(command=command))


def test_a_shell_that_ended_or_ran_out_of_time_stays_as_it_stood() -> None:
    async def use(episode: Episode) -> None:
        await shown(episode, "x=1; cd shapes")
        assert (await shown(episode, "x=2; exec echo gone")).splitlines()[-1] == STAYS
        late = await episode.step(ShellCommand("x=2; cd ..; sleep 100"))
        assert (late.observation.limit, late.observation.ok) == ("wall", False)
        assert late.observation.text.splitlines()[-1] == STAYS
        assert await shown(episode, "echo $x $PWD") == "1 /workspace/shapes\n[exit code 0]"

    with_episode(use, limits=EpisodeLimits(command=Limits(wall_s=3, cpu_s=60)))


def test_a_folder_that_is_gone_is_told_and_the_shell_goes_on_at_the_top() -> None:
    async def use(episode: Episode) -> None:
        await shown(episode, "x=1; mkdir here; cd here")
        await episode.step(RunCommand("rmdir here"))
        text = await shown(episode, "echo $x $PWD")
        assert text.startswith("1 /workspace\n")
        assert "/workspace/here: No such file or directory" in text

    with_episode(use)


def test_processes_in_the_background_are_told_to_have_ended() -> None:
    async def use(episode: Episode) -> None:
        text = await shown(episode, "sleep 100 >/dev/null & echo up")
        assert text == "up\n[exit code 0]\n[processes in the background were ended]"
        assert await shown(episode, "jobs; echo none") == "none\n[exit code 0]"

    with_episode(use)


def test_an_action_that_is_undone_changes_no_shell() -> None:
    async def use(episode: Episode) -> None:
        await shown(episode, "x=1")
        full = await episode.step(ShellCommand("x=2; head -c 3000000 /dev/zero > shapes/big"))
        assert full.observation.refusal is Refusal.TOO_LARGE
        assert await shown(episode, "echo $x") == "1\n[exit code 0]"

    with_episode(use, limits=EpisodeLimits(changed_bytes=1 << 20))


def test_environments_fork_the_shell_too() -> None:
    async def main() -> list[str]:
        async with RepositoryEnvironment([rectangles()]) as env:
            await env.reset(seed=0)
            await env.step(("shell", {"command": "x=1"}))
            [twin] = env.fork(1)
            await twin.step(("shell", {"command": "x=2"}))
            return [
                (await one.step(("shell", {"command": "echo $x"})))[0].text for one in (env, twin)
            ]

    assert asyncio.run(main()) == ["1\n[exit code 0]", "2\n[exit code 0]"]
