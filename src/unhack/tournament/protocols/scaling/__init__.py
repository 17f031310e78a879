"""`scaling`: predict the losses of large training runs from small ones, and say how surely."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from unhack.core.errors import UsageError
from unhack.tournament.protocol import Protocol


def load(options: Mapping[str, str]) -> Protocol:
    """The contest. Options: `ladder=PATH`, a ladder of one's own.

    Raises UsageError for another option, or a file that is no ladder.
    """
    from unhack.tournament.protocols.scaling.contest import Scaling
    from unhack.tournament.protocols.scaling.ladder import SHIPPED, read_ladder

    unknown = set(options) - {"ladder"}
    if unknown:
        raise UsageError(f"scaling has no option {', '.join(sorted(unknown))}; it has: ladder=PATH")
    return Scaling(read_ladder(Path(options["ladder"]) if "ladder" in options else SHIPPED))
