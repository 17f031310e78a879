"""The packages that the commands of a tournament need."""

from __future__ import annotations


def check_packages() -> None:
    """Raise UsageError at once where packages are missing that a tournament needs."""
    from unhack.core.extras import require

    require("tournament", "numpy", "scipy", "safetensors", purpose="a tournament")
