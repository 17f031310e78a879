"""The connection as proxies, classes and values use it (see `judge.connection`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from unhack.sandbox.guest.candidate.standard import SharedContainers


class CandidateLink(Protocol):
    """One judge's way to its candidate."""

    shared: SharedContainers
    classes: Any
    is_aside: bool
    exceptions: Any
    adopt_module: Any
    unverified: int
    exits: bool
    script: Any
    installed: tuple[str, ...]

    def violate(self, what: str) -> Exception:
        """Note, and return as an error, something that cannot cross."""
        ...

    def ask(
        self,
        what: str,
        number: int,
        name: str = "",
        *,
        args: Sequence[Any] = (),
        kwargs: Any = None,
    ) -> Any:
        """The value that the candidate answers with."""
        ...
