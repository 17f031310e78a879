"""`unhack train base`, `export`, `arms` and `plans`: models in and out, and what there is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unhack.cli import terminal
from unhack.cli.train.command import Json, Overrides, RunDir, Threads, train
from unhack.cli.train.preparation import require_torch, settings_from, use_threads


@train.command("base")
def base(
    config: Annotated[
        Path | None,
        typer.Argument(
            metavar="CONFIG.toml", help="Settings (default: those of the recipe top_rewarded)."
        ),
    ] = None,
    overrides: Overrides = None,
    threads: Threads = 0,
    as_json: Json = False,
) -> None:
    """Make the base model (or load it from the cache) and measure it.

    \b
    unhack train base --set model.size=nano --set model.base_seed=1
    """
    settings = settings_from(config, "", overrides)
    require_torch()
    import tempfile

    from unhack.cli.train import screen
    from unhack.training.evaluation.evaluate import evaluate
    from unhack.training.policy.policy import load_policy
    from unhack.training.worlds.registry import make_world

    use_threads(settings, threads)
    with (
        tempfile.TemporaryDirectory(prefix="unhack-") as folder,
        terminal.progress("making and measuring the base model"),
    ):
        world = make_world(settings, folder=Path(folder))
        policy = load_policy(settings, world)
        found = evaluate(policy, world, world.final(), quarantine=False)
    count = sum(item.numel() for item in policy.model.parameters())
    record = {"parameters": count, "world": world.name, "evaluation": found.record()}
    terminal.write_result([record], screen.base_lines(count, found), as_json=as_json)


@train.command("export")
def export(
    folder: RunDir,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A new folder.")],
    threads: Threads = 0,
    as_json: Json = False,
) -> None:
    """Write the deployed model of a run as a folder for Hugging Face's `from_pretrained`.

    The quarantine is deleted, with the proof that this changes nothing, and the adapters are added
    to the weights.

    \b
    unhack train export out/score --out deployed
    """
    require_torch()
    from unhack.training.evaluation.export import export_run

    use_threads(folder, threads)
    with terminal.progress("exporting"):
        record = export_run(folder, out)
    if as_json:
        terminal.write_json(record)
        return
    told = (
        f"{out}: {record['parameters']:,} parameters after {record['step']} updates; "
        f"{record['deleted']:,} of the quarantine deleted"
    )
    terminal.results().print(told, soft_wrap=True)


@train.command("arms")
def arms(as_json: Json = False) -> None:
    """List the arms (variants of training): what each changes, what it replays, what it is for.

    \b
    unhack train arms
    """
    from unhack.cli.train import screen
    from unhack.training.experiment.arms import all_arms

    found = all_arms()
    fields = {name: screen.arm_fields(arm) for name, arm in found.items()}
    terminal.write_result([fields], [screen.arm_table(tuple(found.values()))], as_json=as_json)


@train.command("plans")
def plans(as_json: Json = False) -> None:
    """List the plans of installed packages; `unhack train sweep NAME` runs one.

    \b
    unhack train plans
    """
    from unhack.cli.train import screen
    from unhack.training.experiment.plan_files import STUDY, installed_plans

    found = installed_plans()
    if as_json:
        terminal.write_json({name: str(path) for name, path in found.items()})
        return
    if not found:
        terminal.remarks().print(f"no plan is installed; for those of the study {STUDY}")
        return
    terminal.results().print(screen.plan_table(found))
