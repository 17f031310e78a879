"""`unhack env`: list, play and run repository tasks, where agents act over many turns."""

from __future__ import annotations

from typing import Annotated

import typer

from unhack.cli import terminal
from unhack.cli.env.order import EnvBuildOrder, EnvReplayOrder, EnvRunOrder
from unhack.cli.options import takes

env = typer.Typer(no_args_is_help=True, help="List, build, play, run and replay multi-turn tasks.")


@env.command("list")
def list_environments(
    suite: Annotated[
        str,
        typer.Argument(
            metavar="[SUITE]", help="repos, repos:SEED, or a folder: of tasks, or Harbor's."
        ),
    ] = "repos",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each task.")] = False,
) -> None:
    """List the tasks of a suite: id, files, hidden tests, statement.

    \b
    unhack env list repos
    unhack env list repos:7 --json
    """
    from unhack.cli.env import screen
    from unhack.environments.suites import find_tasks

    tasks = list(find_tasks(suite))
    told = f"\n{len(tasks)} tasks. `unhack env play ID` plays one in this terminal."
    objects = map(screen.as_fields, tasks)
    terminal.write_result(objects, [screen.task_table(tasks), told], as_json=as_json)


@env.command("build")
@takes(EnvBuildOrder)
def build(order: EnvBuildOrder) -> None:
    """Build the images of Harbor folders, without a daemon, and try each grader.

    A task can be played once its grader came to its end on the untouched workspace and, where there
    is one, the task's own solution passed. Exit code 1 where a task cannot.

    \b
    unhack env build tasks/
    unhack env build tasks/ --base ubuntu:24.04=oci:bookworm --no-check
    """
    from unhack.cli.env.build import build_suite

    if not build_suite(order):
        raise typer.Exit(1)


@env.command("play")
def play(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task's id, as `list` shows it.")],
    progress: Annotated[
        float, typer.Option(min=0, help="Weight of step rewards: the share of passing dev tests.")
    ] = 0.0,
) -> None:
    """Play a task in this terminal: read, edit, run tests, submit.

    A line is an action: `list`, `read PATH`, `search TEXT`, `run COMMAND`, `shell COMMAND` (which
    goes on where the last one left off), `test`, `submit`;
    `write PATH` and `patch` take the lines that follow, up to one with a single dot. A line of JSON
    {"name": ..., "arguments": {...}} is a tool call as an agent makes it.

    \b
    unhack env play repos/…
    """
    from unhack.core.optional_dependencies import require

    require("pytest", "pytest", purpose="a multi-turn task")

    from unhack.cli.env.play import play_here
    from unhack.environments.suites import find_one_task

    play_here(find_one_task(task), progress=progress)


@env.command("run")
@takes(EnvRunOrder)
def run(order: EnvRunOrder) -> None:
    """Let an agent play a suite, and judge what it hands in.

    \b
    unhack env run repos --agent solver --limit 5
    unhack env run repos --agent random --out runs/random --json
    unhack env run repos --agent chat --llm-model NAME --llm-url http://localhost:8000/v1
    """
    from unhack.core.optional_dependencies import require

    require("pytest", "pytest", purpose="a multi-turn task")

    from unhack.cli.env.run import run_suite

    run_suite(order)


@env.command("replay")
@takes(EnvReplayOrder)
def replay(order: EnvReplayOrder) -> None:
    """Play a recorded run again, sealed, and judge it: a trajectory of Harbor's format (ATIF).

    Every step is compared with the record. Exit code 0 where the task is solved, 1 where it is not,
    4 where that is undecided: a call stands for no action here, or the judge cannot score.

    \b
    unhack env replay jobs/…/agent/trajectory.json tasks/fix-it
    unhack env replay trajectory.json repos/… --workdir /testbed --json
    """
    from unhack.core.optional_dependencies import require

    require("pytest", "pytest", purpose="a multi-turn task")

    from unhack.cli.env.replay import replay_file

    if code := replay_file(order):
        raise typer.Exit(code)
