"""Published objectives by name, as values.

Covered: what `config.recipes` lists, as `ObjectiveSettings`, and DPO as `DPOSettings`.
Not covered: what a paper says beyond the objective (rates, batches, lengths).
"""

from __future__ import annotations

from unhack.training.config.recipes import RECIPE_FIELDS
from unhack.training.config.settings import ObjectiveSettings
from unhack.training.objectives.preference import DPOSettings

RECIPES: dict[str, ObjectiveSettings | DPOSettings] = {
    **{name: ObjectiveSettings(recipe=name) for name in RECIPE_FIELDS},
    "dpo": DPOSettings(),
}
"""Name -> settings; `[objective] recipe` picks one of the former."""
