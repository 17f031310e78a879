"""Before a training command works: its settings, its packages, the folder of its run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unhack.training.config.settings import Settings


def settings_from(config: Path | None, arm: str, overrides: Sequence[str] | None) -> Settings:
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


def require_torch() -> None:
    """Raises UsageError where torch is missing."""
    from unhack.core.extras import require

    needed = ("torch", "numpy", "scipy", "safetensors", "tomli_w")
    require("train", *needed, purpose="training")


def begin_run(out: Path, settings: Settings, arm: str) -> None:
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
        told = f"resuming after update {steps[-1]} of {settings.run.steps}"
        terminal.remarks().print(told, soft_wrap=True)
