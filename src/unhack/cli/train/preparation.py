"""Before a training command works: its settings, its packages, the folder of its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unhack.cli import terminal
from unhack.core.errors import UsageError

if TYPE_CHECKING:
    from unhack.training.config.settings import Settings


def settings_from(
    config: Path | None,
    arm: str,
    overrides: Sequence[str] | None,
    options: Mapping[str, Mapping[str, str]] | None = None,
) -> Settings:
    """The settings from the recipe `top_rewarded`, then file, arm, `options` that were given
    (tables of fields; empty values say nothing), and `--set`.

    Raises UsageError, UnknownNameError.
    """
    from unhack.training.config.retired import without_retired
    from unhack.training.config.toml import override_of, read_toml
    from unhack.training.experiment.arms import choose_settings, find_arm

    tables = {}
    if config is not None:
        tables = without_retired(read_toml(config), source=str(config))
    given = {
        table: {name: value for name, value in fields.items() if value}
        for table, fields in (options or {}).items()
    }
    texts = dict(override_of(text) for text in overrides or ())
    settings = choose_settings(tables, arm, given, texts)
    replayed = "gate.replay" if settings.gate.kind == "replay" else "optimiser.shrink"
    needs = find_arm(arm).needs if arm else ()
    if needs and not (settings.gate.replay or settings.optimiser.shrink):
        raise UsageError(
            f"arm {arm} replays the record of arm {needs[0]}: train that first, with the same "
            f"seed, and give its folder with --set {replayed}=DIR"
        )
    return settings


def use_threads(of: Settings | Path, count: int) -> None:
    """Set torch's threads: `count`, or where that is 0 what suits the model of the settings, or of
    the run in a folder. Raises UsageError for settings that are gone."""
    from unhack.training.config.toml import read_settings
    from unhack.training.policy.threads import set_threads, threads_for
    from unhack.training.run.folder import CONFIG

    if not count:
        if isinstance(of, Path) and not (of / CONFIG).exists():
            return  # what needs the folder says so
        settings = read_settings(of / CONFIG) if isinstance(of, Path) else of
        count = threads_for(settings)
    set_threads(count)


def require_torch() -> None:
    """Raises UsageError where torch is missing."""
    from unhack.core.optional_dependencies import require

    needed = ("torch", "numpy", "scipy", "safetensors", "tomli_w")
    require("train", *needed, purpose="training")


def begin_run(out: Path, settings: Settings, arm: str) -> None:
    """Write the arm into `run.json`, say where the run stands. Raises UsageError, StoreError."""
    import shlex
    import sys

    from unhack.training.run.checkpoint import checkpoint_steps
    from unhack.training.run.folder import TrainingRecords

    with TrainingRecords(out, settings) as files:
        command = shlex.join(["unhack", *sys.argv[1:]])
        files.describe(**({"arm": arm} if arm else {}), command=command)
    steps = checkpoint_steps(out)
    if steps and steps[-1]:
        told = f"resuming after update {steps[-1]} of {settings.run.steps}"
        terminal.remarks().print(told, soft_wrap=True)
