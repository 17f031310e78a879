"""`unhack doctor`: what this host can isolate."""

from __future__ import annotations


def doctor() -> None:
    """Placeholder."""
