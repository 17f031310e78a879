"""The plans that carry a claim, by name: `unhack train sweep states` and the like.

Covered: an installed package, which holds them, and a checkout, which has them under
`experiments/`. Not covered: the plans of the journal, which are history.
"""

from __future__ import annotations

from pathlib import Path

_INSTALLED = Path(__file__).with_name("shipped_plans")
_FOLDER = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[2]

loopholes_fast = _FOLDER / "loopholes-fast.toml"
loopholes_main = _FOLDER / "loopholes-main.toml"
powered = _FOLDER / "powered.toml"
powered_controls = _FOLDER / "powered-controls.toml"
together = _FOLDER / "together.toml"
states = _FOLDER / "states.toml"
matrix = _FOLDER / "matrix.toml"
matrix_shared = _FOLDER / "matrix-shared.toml"
matrix_shortcuts = _FOLDER / "matrix-shortcuts.toml"
matrix_large = _FOLDER / "matrix-large.toml"
