"""The plans that ship with the package, by name.

Covered: an installed package, which holds them, and a checkout, which has them under
`experiments/`. Not covered: the plans of the journal, which are history.
"""

from __future__ import annotations

from pathlib import Path

from unhack.core.errors import UnknownNameError

_INSTALLED = Path(__file__).with_name("shipped_plans")
_CHECKOUT = Path(__file__).parents[4] / "experiments"
SHIPPED = (
    "loopholes-fast", "loopholes-main", "powered", "powered-controls", "together", "states",
    "matrix", "matrix-shared", "matrix-shortcuts", "matrix-large",
)  # fmt: skip


def shipped_plans() -> dict[str, Path]:
    """Each plan by its name."""
    folder = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
    return {name: folder / f"{name}.toml" for name in SHIPPED if (folder / f"{name}.toml").exists()}


def find_plan(name: Path) -> Path:
    """The file of a plan: a path, or the name of one that ships. Raises UnknownNameError."""
    if name.exists() or len(name.parts) > 1:
        return name
    known = shipped_plans()
    if name.suffix == ".toml" and name.stem not in known:
        return name
    if name.stem not in known:
        raise UnknownNameError("plan", str(name), valid=known)
    return known[name.stem]
