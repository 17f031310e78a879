"""Packages that only some of unhack needs: named, with the way to get them, before work begins."""

from __future__ import annotations

import importlib.util

from unhack.core.errors import NotInstalledError


def require(extra: str, *modules: str, purpose: str) -> None:
    """Raise NotInstalledError unless all `modules` can be imported; it names those that cannot and
    the extra that brings them. `purpose` begins the sentence: "a tournament"."""
    absent = [name for name in modules if not _is_installed(name)]
    if absent:
        raise NotInstalledError(
            f"{purpose} needs {', '.join(absent)}: pip install '.[{extra}]' in a checkout of unhack"
        )


def _is_installed(module: str) -> bool:
    """A bare folder of that name, which Python would import too, does not count."""
    spec = importlib.util.find_spec(module)
    return spec is not None and spec.origin is not None
