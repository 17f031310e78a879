"""`unhack train`: train against a verifier that can be gamed, and measure what is deployed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from unhack.cli import terminal
from unhack.cli.options import arg, check_output, opt, takes
from unhack.cli.train.preparation import begin_run, require_torch, settings_from, use_threads

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
    typer.Option("--set", metavar="TABLE.FIELD=VALUE", help="Override a setting; may be repeated."),
]


Threads = Annotated[
    int,
    typer.Option(
        "--threads", metavar="N", min=0, help="Threads of torch (default: 1 for tiny models)."
    ),
]


_INTERRUPTED = "Interrupted. Run the same command to resume."


@dataclass(frozen=True)
class RunArguments:
    """The arguments and options of `run`."""

    out: Path = opt(..., "The folder of the run.", "--out", metavar="DIR")
    config: Path | None = arg(
        None, "Settings (default: those of the recipe top_rewarded).", metavar="CONFIG.toml"
    )
    arm: str = opt("real", "A variant of training; `unhack train arms` lists them.", metavar="NAME")
    world: str = opt(
        "",
        "What is trained on: programs, leetcode, or a target: a task, a suite, a folder, "
        "FILE.py:FUNCTION, MODULE:NAME.",
        metavar="TARGET",
    )
    model: str = opt(
        "", "The folder of a Hugging Face causal LM with its tokenizer.", metavar="DIR"
    )
    pairs: str = opt(
        "", "The hack pairs of `unhack audit TARGET --pairs FILE` to route by.", metavar="FILE"
    )
    again: float | None = opt(
        None,
        "Train once more into DIR-again, with this share of the gate, where the leak "
        "alarm is raised at the end.",
        "--again",
        metavar="SHARE",
    )
    threads: Threads = 0
    overrides: Overrides = None
    final: bool = opt(True, "Evaluate the last checkpoint at the end.", "--final/--no-final")
    as_json: Json = False


@train.command("run")
@takes(RunArguments)
def run(arguments: RunArguments) -> None:
    """Train one policy; the same command resumes an interrupted run from its last checkpoint.

    An arm is a variant of training: `real` (gradient routing, the default) or `vanilla` (no
    defence), for instance. Settings come from the recipe top_rewarded, then the file, the arm, the
    options and `--set`. Exits 1 if an alarm stopped the run.

    \b
    unhack train run --out out/real/b0-s0
    unhack train run --arm vanilla --out out/vanilla/b0-s0
    unhack train run --world rewards.py:score --model my-model --pairs pairs.jsonl --out out/score
    unhack train run --set gate.constant=0.2 --again 0.4 --out out/two-tenths
    """
    arm, again = arguments.arm, arguments.again
    chosen = {
        "world": {"name": arguments.world, "pairs_path": arguments.pairs},
        "model": {"path": arguments.model},
    }
    settings = settings_from(arguments.config, arm, arguments.overrides, chosen)
    require_torch()
    from unhack.training.run.second_run import check_again, second_run

    if again is not None:
        check_again(settings, again, processes=int(os.environ.get("WORLD_SIZE", "1")))
    use_threads(settings, arguments.threads)
    record, out = _run_to_its_end(arguments, settings, arguments.out), arguments.out
    second = second_run(settings, out, again) if again is not None else None
    if second is not None:
        text = f"the leak alarm is raised: training again into {second[1]}"
        terminal.remarks().print(text, soft_wrap=True, markup=False, highlight=False)
        record = _run_to_its_end(arguments, *second) | {"first": record}
    if record:
        _tell(record, as_json=arguments.as_json)


def _run_to_its_end(arguments: RunArguments, settings: Settings, out: Path) -> dict[str, Any]:
    """Train, or go on training; what there is to tell, which is nothing for a rank that does not
    lead."""
    from unhack.cli.train import screen
    from unhack.training.loop.train import train as train_run
    from unhack.training.run.folder import RUN, read_json

    if leads := os.environ.get("RANK", "0") == "0":
        begin_run(out, settings, arguments.arm)
    with screen.live(settings.run.steps, shown=leads) as watch:
        try:
            train_run(settings, out, watch=watch)
        except KeyboardInterrupt:
            terminal.remarks().print(_INTERRUPTED, soft_wrap=True)
            raise
    if not leads:
        return {}
    ended = read_json(out / RUN)
    record: dict[str, Any] = {"run": str(out), "arm": arguments.arm, "status": ended.get("status")}
    if ended.get("reason"):
        record["reason"] = ended["reason"]
    if arguments.final:
        from unhack.training.evaluation.evaluate import FINAL, evaluate_run, is_current

        with terminal.progress("evaluating the last checkpoint"):
            record["final"] = read_json(out / FINAL) if is_current(out) else evaluate_run(out)
    return record


def _tell(record: dict[str, Any], *, as_json: bool) -> None:
    """Print how a run ended. Exits with 1 where an alarm stopped it."""
    from unhack.cli.train import screen

    terminal.write_result([record], screen.run_lines(record), as_json=as_json)
    if str(record.get("reason") or "").startswith("alarm"):
        raise typer.Exit(1)


@dataclass(frozen=True)
class CurveArguments:
    """The arguments and options of `eval-curve`."""

    folder: RunDir
    every: int = opt(10, "Updates between two points.", metavar="N", least=1)
    prompts: Literal["monitor", "final"] = opt("monitor", "Prompts per point.")
    threads: Threads = 0
    as_json: Json = False


@train.command("eval-curve")
@takes(CurveArguments)
def eval_curve(arguments: CurveArguments) -> None:
    """Evaluate every checkpoint with the quarantine on and off, into `curve.json`.

    The quarantine is the adapter that is to learn the hack and is deleted before deployment. The
    last checkpoint is also evaluated on the final prompts without it, into `final.json`. Points
    that are there already are kept.

    \b
    unhack train eval-curve out/real/b0-s0
    """
    require_torch()
    from unhack.cli.train import screen
    from unhack.training.evaluation.curve import evaluate_curve, plan_steps
    from unhack.training.evaluation.evaluate import evaluate_run, is_current
    from unhack.training.run.checkpoint import checkpoint_steps

    folder, every = arguments.folder, arguments.every
    use_threads(folder, arguments.threads)
    total = len(plan_steps(checkpoint_steps(folder), every=every))
    with terminal.progress("evaluating", total=total) as advance:
        curve = evaluate_curve(
            folder, every=every, prompts=arguments.prompts, watch=lambda point, total: advance()
        )
    if not is_current(folder):
        with terminal.progress("evaluating the last checkpoint"):
            evaluate_run(folder)
    terminal.write_result([curve], [screen.curve_table(curve)], as_json=arguments.as_json)


@dataclass(frozen=True)
class ReportArguments:
    """The arguments and options of `report`."""

    folders: list[Path] = arg(..., "Runs, or folders that hold some.", metavar="RUN...")
    html: Path | None = opt(None, "Also write an HTML page with charts.", metavar="FILE")
    plan: Path | None = opt(
        None, "The plan whose table [test] sets the tests.", metavar="PLAN.toml"
    )
    strict: bool = opt(False, "Exit 1 unless all claims are supported.", "--strict")
    as_json: Json = False


@train.command("report")
@takes(ReportArguments)
def report(arguments: ReportArguments) -> None:
    """Report hack and solve rates per arm; with unhack-study, test the three claims of routing.

    An arm is a variant of training. Rates are given as deployed (without the quarantine) and as
    trained.

    The rules of the tests are those of `plan.toml` in or above the first folder that has one.

    \b
    unhack train report out --html report.html
    """
    from unhack.cli.train import screen
    from unhack.training.experiment.report.claims import find_claims
    from unhack.training.experiment.report.summary import summarise

    html, strict = arguments.html, arguments.strict
    check_output("--html", html)
    find_claims(needed_by="--strict" if strict else "")
    found = summarise(arguments.folders, arguments.plan)
    if html is not None:
        from unhack.training.experiment.report.page import write_report

        write_report(found, html)
        terminal.remarks().print(f"wrote {html}", soft_wrap=True)
    terminal.write_result([found.record()], screen.report_lines(found), as_json=arguments.as_json)
    if strict and not (found.tested and found.tested.supported):
        raise typer.Exit(1)


@dataclass(frozen=True)
class SweepArguments:
    """The arguments and options of `sweep`."""

    plan: Path = arg(
        ..., "A TOML file of arms, seeds, settings, or a name of `unhack train plans`.",
        metavar="PLAN",
    )  # fmt: skip
    out: Path = opt(..., "The folder of the sweep; runs are DIR/ARM/bBASE-sSEED.", metavar="DIR")
    jobs: int | None = opt(
        None, "Concurrent runs (default: as the plan says).", metavar="N", least=1
    )
    as_json: Json = False


@train.command("sweep")
@takes(SweepArguments)
def sweep(arguments: SweepArguments) -> None:
    """Train every arm x base model x seed of a plan; finished runs are kept.

    Exits 1 if any run failed.

    \b
    unhack train sweep loopholes-fast --out out
    """
    require_torch()
    from dataclasses import replace

    from unhack.cli.progress import CommandProgress
    from unhack.cli.train import screen
    from unhack.training.experiment.plan_files import find_plan, keep_plan
    from unhack.training.experiment.report.claims import check_rules
    from unhack.training.experiment.sweep import plan_runs, read_plan
    from unhack.training.experiment.sweep import sweep as sweep_runs

    out, jobs = arguments.out, arguments.jobs
    plan = find_plan(arguments.plan)
    wanted = read_plan(plan)
    check_rules(plan)
    keep_plan(plan, out)
    wanted = wanted if jobs is None else replace(wanted, jobs=jobs)
    state = CommandProgress("sweep", len(plan_runs(wanted)))
    try:
        with terminal.working(state) as show:
            outcomes = sweep_runs(wanted, out, watch=screen.sweep_watch(state, show))
    except KeyboardInterrupt:
        terminal.remarks().print(_INTERRUPTED, soft_wrap=True)
        raise
    fields = {"runs": [screen.outcome_fields(item) for item in outcomes]}
    terminal.write_result([fields], screen.sweep_lines(outcomes), as_json=arguments.as_json)
    if any(item.state != "done" for item in outcomes):
        raise typer.Exit(1)


@dataclass(frozen=True)
class RelearnArguments:
    """The arguments and options of `relearn`."""

    folder: RunDir
    updates: int = opt(100, "Updates that the attack trains for.", metavar="N", least=1)
    every: int = opt(5, "Updates between measurements.", metavar="N", least=1)
    threshold: float = opt(0.5, "Hack rate that counts as returned.", metavar="X", least=0)
    against: list[Path] | None = opt(None, "Runs to compare with (vanilla).", metavar="RUN")
    threads: Threads = 0
    as_json: Json = False


@train.command("relearn")
@takes(RelearnArguments)
def relearn(arguments: RelearnArguments) -> None:
    """Attack a deployed model: train it again with the loophole on, until the hack returns.

    The base model is attacked alike (or give vanilla's run of the same base and seed), so that
    what the deployed model kept of the hack shows.
    Exits 1 if the deployed model relearns the hack sooner than the base model learns it.

    \b
    unhack train relearn out/real/b0-s0 --updates 60 --against out/vanilla/b0-s0
    """
    require_torch()
    from unhack.cli.train import screen
    from unhack.training.experiment.relearn import RelearningAttack
    from unhack.training.experiment.relearn import relearn as attack

    use_threads(arguments.folder, arguments.threads)
    wanted = RelearningAttack(arguments.updates, arguments.every, arguments.threshold)
    with screen.live(arguments.updates, shown=True, what="relearning") as watch:
        found = attack(
            arguments.folder, wanted, against=tuple(arguments.against or ()), watch=watch
        )
    terminal.write_result([found], screen.relearn_lines(found), as_json=arguments.as_json)
    if found["sooner"]:
        raise typer.Exit(1)
