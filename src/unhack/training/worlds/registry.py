"""The world of a run: one with a name, or what a user's target names.

Covered: `NAMED`; classes that installed distributions name in the entry point group
`unhack.worlds`; everything that `worlds.tasks.targets` lists. Not covered: worlds of several turns
(`worlds.turns`), which are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from unhack.audit.subjects.loading import load_function
from unhack.core.errors import UsageError
from unhack.sandbox.distributions import entry_points, load
from unhack.training.config.settings import Settings
from unhack.training.worlds.leetcode import LeetcodeWorld
from unhack.training.worlds.pretrained.world import PretrainedWorld
from unhack.training.worlds.programs.world import ProgramsWorld
from unhack.training.worlds.tasks.sources import FunctionSource
from unhack.training.worlds.tasks.targets import is_python, open_source, world_class
from unhack.training.worlds.tasks.world import TaskWorld
from unhack.training.worlds.texts import text_codec
from unhack.training.worlds.world import World

NAMED: Mapping[str, Callable[..., World]] = {
    "programs": ProgramsWorld,
    "leetcode": LeetcodeWorld,
    "pretrained": PretrainedWorld,
}
"""The worlds of the engine, with loopholes and an oracle."""
_GROUP = "unhack.worlds"


def make_world(settings: Settings, folder: Path) -> World:
    """The world of the settings; `folder` is where a run keeps its verdicts.

    Raises UsageError for settings that the world cannot serve, UnknownNameError, TaskError.
    """
    tokenizer = settings.world.tokenizer or settings.model.path
    chosen = settings.world.model_copy(update={"tokenizer": tokenizer})
    made = _named(chosen.name)
    if made is not None:
        if chosen.detector:
            raise UsageError(
                f"world {chosen.name} has a detector of its own: leave world.detector empty"
            )
        return made(chosen, folder=folder)
    if is_python(chosen.name) and (made := world_class(chosen.name)) is not None:
        return made(chosen, folder=folder)
    _check_labels(settings)
    if chosen.held_out_from:
        raise UsageError(
            f"world {chosen.name} has no modes that could arrive late: set world.held_out_from=0"
        )
    source = open_source(chosen.name, rows=chosen.path, names=(*NAMED, *entry_points(_GROUP)))
    detector = None
    if chosen.detector:
        rows = tuple(source.problems.values())
        detector = FunctionSource(load_function(chosen.detector, rows=rows))
    return TaskWorld(
        chosen, source=source, text=text_codec(chosen), folder=folder, detector=detector
    )


def _named(name: str) -> Callable[..., World] | None:
    """The class of a world with a name, the engine's or an installed one."""
    point = entry_points(_GROUP).get(name)
    if name in NAMED or point is None:
        return NAMED.get(name)
    made = load(point, type)
    if not hasattr(made, "judge"):
        raise UsageError(
            f"world {name} is played in turns: train on it with "
            "unhack.training.episodes.train.train_episodes"
        )
    return made


def _check_labels(settings: Settings) -> None:
    """Raise UsageError where settings read labels that a world of tasks does not have."""
    if settings.gate.kind == "oracle":
        raise UsageError(
            f"gate.kind=oracle needs an oracle, which world {settings.world.name} has not"
        )
    reads = [
        name
        for name, kind in (
            ("gate.kind", settings.gate.kind),
            ("baseline.kind", settings.baseline.kind),
        )
        if kind.startswith("detector")
    ]
    if reads and not settings.world.detector:
        raise UsageError(
            f"{reads[0]} reads the labels of a detector: name one with "
            "world.detector=module:function"
        )
