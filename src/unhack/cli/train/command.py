"""`unhack train`: train against a verifier that can be gamed, and measure what is deployed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from unhack.cli.options import takes, valued

if TYPE_CHECKING:
    from unhack.training.config.settings import Settings

train = typer.Typer(
    no_args_is_help=True,
    help="Train against a verifier that can be gamed, and keep the hack out of what is deployed.",
)

RunDir = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]
Json = Annotated[bool, typer.Option("--json", help="As one JSON object.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="TABLE.FIELD=VALUE", help="A setting; several times for several."
    ),
]


@train.command("run")
def run(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of the run.")],
    config: Annotated[
        Path | None, typer.Argument(metavar="CONFIG.toml", help="Settings; defaults without it.")
    ] = None,
    arm: Annotated[
        str, typer.Option("--arm", metavar="NAME", help="`unhack train arms` lists them.")
    ] = "",
    overrides: Overrides = None,
    final: Annotated[
        bool, typer.Option("--final/--no-final", help="Evaluate the last checkpoint at the end.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Train one policy; a run that was interrupted goes on where its last checkpoint is.

    Settings come from the file, then the arm, then `--set`. Ends with 1 when an alarm stopped it.

    \b
    unhack train run --arm real --set run.steps=100 --out out/real/b0-s0
    unhack train run --arm replay --set gate.replay=out/real/b0-s0 --out out/replay/b0-s0
    """
    settings = _settings(config, arm, overrides)
    _needs_torch()
    from unhack.cli import terminal
    from unhack.cli.train import screen
    from unhack.training.loop.train import train as train_run
    from unhack.training.run.folder import RUN, read_json

    leads = os.environ.get("RANK", "0") == "0"
    if leads:
        _begin(out, settings, arm)
    with screen.live(settings.run.steps, shown=leads) as watch:
        try:
            train_run(settings, out, watch=watch)
        except KeyboardInterrupt:
            terminal.remarks().print("interrupted; the same command goes on", soft_wrap=True)
            raise
    if not leads:
        return
    ended = read_json(out / RUN)
    record: dict[str, Any] = {"run": str(out), "arm": arm, "status": ended.get("status")}
    if ended.get("reason"):
        record["reason"] = ended["reason"]
    if final:
        from unhack.training.evaluation.evaluate import FINAL, evaluate_run, is_current

        record["final"] = read_json(out / FINAL) if is_current(out) else evaluate_run(out)
    if as_json:
        terminal.write_json(record)
    else:
        for part in screen.run_lines(record):
            terminal.results().print(part)
    if str(ended.get("reason") or "").startswith("alarm"):
        raise typer.Exit(1)


@train.command("eval-curve")
def eval_curve(
    folder: RunDir,
    every: Annotated[
        int, typer.Option("--every", metavar="N", min=1, help="Completed updates between points.")
    ] = 10,
    prompts: Annotated[
        Literal["monitor", "final"], typer.Option("--prompts", help="Which prompts a point has.")
    ] = "monitor",
    as_json: Json = False,
) -> None:
    """Evaluate every checkpoint in both knob states, into `curve.json`; the last one on the final
    set with the quarantine deleted, into `final.json`. What is there already is kept.

    \b
    unhack train eval-curve out/real/b0-s0
    """
    _needs_torch()
    from unhack.cli import terminal
    from unhack.cli.train import screen
    from unhack.training.evaluation.curve import evaluate_curve, plan_steps
    from unhack.training.evaluation.evaluate import evaluate_run, is_current
    from unhack.training.run.checkpoint import checkpoint_steps

    total = len(plan_steps(checkpoint_steps(folder), every=every))
    with terminal.progress("evaluating", total=total) as advance:
        curve = evaluate_curve(
            folder, every=every, prompts=prompts, watch=lambda point, total: advance()
        )
    if not is_current(folder):
        evaluate_run(folder)
    if as_json:
        terminal.write_json(curve)
        return
    terminal.results().print(screen.curve_table(curve))


@train.command("report")
def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Runs, or folders that hold some.")
    ],
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also as one page with charts.")
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="PLAN.toml", help="Rules of the tests, table [test]."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with 1 unless all claims are supported.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say of each arm how it hacks and solves, deployed and as trained, and judge three claims.

    The rules of the tests are those of `plan.toml` in or above the first folder that has one.

    \b
    unhack train report out --html report.html
    """
    from unhack.cli import terminal
    from unhack.cli.train import screen
    from unhack.core.errors import UsageError
    from unhack.training.experiment.preregistration import (
        find_preregistration,
        read_preregistration,
    )
    from unhack.training.experiment.report.summary import summarise

    if html is not None and not html.absolute().parent.is_dir():
        raise UsageError(f"{html}: there is no directory {html.parent}")
    if html is not None and html.is_dir():
        raise UsageError(f"--html {html}: this is a directory; name a file in it")
    rules = read_preregistration(plan) if plan is not None else find_preregistration(folders)
    found = summarise(folders, rules)
    if html is not None:
        from unhack.training.experiment.report.page import write_report

        write_report(found, html)
        terminal.remarks().print(f"wrote {html}", soft_wrap=True)
    if as_json:
        terminal.write_json(found.record())
    else:
        for part in screen.report_lines(found):
            terminal.results().print(part)
    if strict and any(claim.verdict != "supported" for claim in found.claims):
        raise typer.Exit(1)


@train.command("sweep")
def sweep(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.toml", help="Arms, seeds, settings.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Holds OUT/ARM/bBASE-sSEED.")],
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", min=1, help="Runs at once; as the plan says."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run arms x base models x seeds; what is done is not done again. Ends with 1 when one failed.

    \b
    unhack train sweep plan.toml --out out
    """
    _needs_torch()
    from dataclasses import replace

    from unhack.cli import terminal
    from unhack.cli.train import screen
    from unhack.training.experiment.preregistration import keep_plan, read_preregistration
    from unhack.training.experiment.sweep import read_plan
    from unhack.training.experiment.sweep import sweep as sweep_runs

    wanted = read_plan(plan)
    read_preregistration(plan)
    keep_plan(plan, out)
    wanted = wanted if jobs is None else replace(wanted, jobs=jobs)
    console = terminal.remarks()
    try:
        outcomes = sweep_runs(wanted, out, watch=screen.sweep_watch(console))
    except KeyboardInterrupt:
        console.print("interrupted; the same command goes on", soft_wrap=True)
        raise
    if as_json:
        terminal.write_json({"runs": [screen.outcome_fields(item) for item in outcomes]})
    else:
        for part in screen.sweep_lines(outcomes):
            terminal.results().print(part)
    if any(item.state != "done" for item in outcomes):
        raise typer.Exit(1)


@dataclass(frozen=True)
class RelearnArguments:
    """The arguments and options of `relearn`."""

    folder: RunDir
    updates: Annotated[int, valued("Updates of the attack.", metavar="N", least=1)] = 100
    every: Annotated[int, valued("Updates between measurements.", metavar="N", least=1)] = 5
    threshold: Annotated[
        float, valued("Hack rate that counts as returned.", metavar="X", least=0)
    ] = 0.5
    against: Annotated[
        list[Path] | None, valued("Runs to compare with (vanilla).", metavar="RUN")
    ] = None
    as_json: Json = False


@train.command("relearn")
@takes(RelearnArguments)
def relearn(arguments: RelearnArguments) -> None:
    """Attack a deployed model: train it again with the loophole on, until the hack returns.

    The base model is attacked alike (or give vanilla's run of the same base and seed), so that
    what the deployed model kept of the hack shows.
    Ends with 1 when the deployed model relearns sooner than the base learns.

    \b
    unhack train relearn out/real/b0-s0 --updates 60 --against out/vanilla/b0-s0
    """
    _needs_torch()
    from unhack.cli import terminal
    from unhack.cli.train import screen
    from unhack.training.experiment.relearn import RelearningAttack
    from unhack.training.experiment.relearn import relearn as attack

    wanted = RelearningAttack(arguments.updates, arguments.every, arguments.threshold)
    with screen.live(arguments.updates, shown=True) as watch:
        found = attack(
            arguments.folder, wanted, against=tuple(arguments.against or ()), watch=watch
        )
    if arguments.as_json:
        terminal.write_json(found)
    else:
        for part in screen.relearn_lines(found):
            terminal.results().print(part)
    if found["sooner"]:
        raise typer.Exit(1)


@train.command("base")
def base(
    config: Annotated[
        Path | None, typer.Argument(metavar="CONFIG.toml", help="Settings; defaults without it.")
    ] = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Make the base model of the settings (or take it from the cache), and measure it.

    \b
    unhack train base --set model.size=nano --set model.base_seed=1
    """
    settings = _settings(config, "", overrides)
    _needs_torch()
    import tempfile

    from unhack.cli import terminal
    from unhack.cli.train import screen
    from unhack.training.evaluation.evaluate import evaluate
    from unhack.training.policy.policy import load_policy
    from unhack.training.worlds.registry import make_world

    with tempfile.TemporaryDirectory(prefix="unhack-") as folder:
        world = make_world(settings.world, folder=Path(folder))
        policy = load_policy(settings, world)
        found = evaluate(policy, world, world.final(), quarantine=False)
    count = sum(item.numel() for item in policy.model.parameters())
    record = {"parameters": count, "world": world.name, "evaluation": found.record()}
    if as_json:
        terminal.write_json(record)
        return
    for part in screen.base_lines(count, found):
        terminal.results().print(part)


@train.command("arms")
def arms(as_json: Json = False) -> None:
    """List the arms of an experiment: what each changes, what it replays, what it is for.

    \b
    unhack train arms
    """
    from unhack.cli import terminal
    from unhack.cli.train import screen
    from unhack.training.experiment.arms import ARMS

    if as_json:
        terminal.write_json({name: screen.arm_fields(arm) for name, arm in ARMS.items()})
        return
    terminal.results().print(screen.arm_table(tuple(ARMS.values())))


def _settings(config: Path | None, arm: str, overrides: Sequence[str] | None) -> Settings:
    """The settings from file, then arm, then `--set`. Raises UsageError, UnknownNameError."""
    from unhack.core.errors import UsageError
    from unhack.training.config.settings import Settings
    from unhack.training.config.toml import override, override_of, read_settings
    from unhack.training.experiment.arms import ARMS, apply_arm

    settings = Settings() if config is None else read_settings(config)
    if arm:
        settings = apply_arm(settings, arm)
    settings = override(settings, dict(override_of(text) for text in overrides or ()))
    replayed = "gate.replay" if settings.gate.kind == "replay" else "optimiser.shrink"
    if arm and ARMS[arm].needs and not (settings.gate.replay or settings.optimiser.shrink):
        source = ARMS[arm].needs[0]
        raise UsageError(
            f"arm {arm} replays the record of arm {source}: train that first, with the same seed, "
            f"and give its folder with --set {replayed}=DIR"
        )
    return settings


def _needs_torch() -> None:
    """Raises UsageError where torch is missing."""
    from importlib.util import find_spec

    from unhack.core.errors import UsageError

    absent = [
        name
        for name in ("torch", "numpy", "scipy", "safetensors", "tomli_w")
        if find_spec(name) is None
    ]
    if absent:
        raise UsageError(
            f"training needs {', '.join(absent)}: pip install '.[train]' in a checkout of unhack"
        )


def _begin(out: Path, settings: Settings, arm: str) -> None:
    """Write the arm into `run.json`, say where the run stands. Raises UsageError, StoreError."""
    import shlex
    import sys

    from unhack.cli import terminal
    from unhack.training.run.checkpoint import checkpoint_steps
    from unhack.training.run.folder import TrainingRecords

    with TrainingRecords(out, settings) as files:
        command = shlex.join(["unhack", *sys.argv[1:]])
        files.describe(**({"arm": arm} if arm else {}), command=command)
    steps = checkpoint_steps(out)
    if steps and steps[-1]:
        told = f"going on after update {steps[-1]} of {settings.run.steps}"
        terminal.remarks().print(told, soft_wrap=True)
