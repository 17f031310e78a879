"""Settings that are gone: what an old run folder or plan may still say.

Where the old value says what every run does today, it is left out. Any other value changed what was
trained: reading such a run in order to go on with it is refused, reading it for a report is not.

Covered: whole fields, and values of fields that stay. Not covered: settings of no record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unhack.core.errors import UsageError

_FIELDS: Mapping[str, Any] = {
    "gate.scope": "global",
    "gate.memory": 0.0,
    "world.inoculation": False,
    "gate.raised_to": 0.0,
    "gate.seed": 157,
    "baseline.strength": 3.0,
    "objective.entropy_bonus": 0.0,
    "objective.value_rate": 1e-3,
    "optimiser.weight_decay": 0.0,
}
"""Fields that are gone, and the value under which leaving them out changes nothing."""
_VALUES: Mapping[str, frozenset[str]] = {
    "gate.kind": frozenset({"activation", "absorb", "constant"}),
    "gate.calibration": frozenset({"p75", "floored", "mean", "extremes", "left_out", "online"}),
    "baseline.kind": frozenset({"oracle_penalty", "screening", "advantage", "kl_stop"}),
}
"""Values of fields that stay."""
LAST = "9914faa"
"""The last commit that has them all, but for those of `_LATER`."""
_LATER = {
    "gate.raised_to": "fe545b1f",
    **dict.fromkeys(
        (
            "gate.seed", "baseline.strength", "objective.entropy_bonus", "objective.value_rate",
            "optimiser.weight_decay",
        ),
        "dd52dedb",
    ),
}  # fmt: skip
"""Settings that came after it, each with a commit that has it."""


def without_retired(
    tables: Mapping[str, Any], *, source: str, reading: bool = False
) -> dict[str, Any]:
    """Tables of settings without those that are gone; `reading`: whatever they say.

    Raises UsageError where one of them changed what was trained.
    """
    found: dict[str, Any] = {
        table: dict(fields) if isinstance(fields, Mapping) else fields  # pyright: ignore[reportUnknownArgumentType]
        for table, fields in tables.items()
    }
    for name, neutral in _FIELDS.items():
        table, _, field = name.partition(".")
        if isinstance(found.get(table), dict) and field in found[table]:
            value = found[table].pop(field)
            if value != neutral and not reading:
                raise _gone(source, name, value)
    for name, values in _VALUES.items():
        table, _, field = name.partition(".")
        value = found[table].get(field) if isinstance(found.get(table), dict) else None
        if not isinstance(value, str) or value not in values:
            continue
        # A gate that scores nothing never looks at its calibration.
        idle = name == "gate.calibration" and tables["gate"].get("kind", "none") != "cosine"
        if not (reading or idle):
            raise _gone(source, name, value)
        del found[table][field]
    return found


def _gone(source: str, name: str, value: Any) -> UsageError:
    return UsageError(
        f"{source}: {name} = {value!r} is gone, as no result or plan needs it; what was begun with "
        f"it goes on with commit {_LATER.get(name, LAST)} of unhack"
    )
