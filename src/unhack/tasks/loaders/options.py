"""Options of the judging of a data set's tasks, as its caller gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unhack.core.completion import Extraction
from unhack.sandbox.limits import Limits
from unhack.verifiers.script import Mode


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """The options that a loader gives to every verifier that it builds.

    Example:

        options = LoadOptions(limits=Limits(wall_s=5.0), partial_credit=True)
        tasks = humaneval.load("humaneval.jsonl", options=options)
    """

    limits: Limits = Limits()
    extraction: Extraction = Extraction.AUTO
    """The part of a completion that is the code."""
    partial_credit: bool = False
    """Score by the share of cases passed, where the tests can be written as cases."""
    preload: tuple[str, ...] = ()
    """Third-party modules that completions may import, such as `numpy`."""
    script_mode: Mode = Mode.SEALED
    """For tests that only a script can run. `Mode.AS_WRITTEN` runs the completion in one process
    with its tests, where it can forge the score; every such verdict is marked."""

    @property
    def of_cases(self) -> dict[str, Any]:
        """The options of a verifier of cases, by their names there."""
        names = ("limits", "extraction", "partial_credit", "preload")
        return {name: getattr(self, name) for name in names}
