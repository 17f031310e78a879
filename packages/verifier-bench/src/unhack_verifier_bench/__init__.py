"""The planted corpus: a benchmark of verifiers with labels that are proven by running.

from unhack_verifier_bench import planted_entries, standings

for entry in planted_entries():
    reported = my_auditor(entry.path, entry.rows())
    entry.label, standings(entry, reported)
"""

from unhack_verifier_bench.claims import ClaimStanding, standings, subject_of
from unhack_verifier_bench.entries import (
    PlantedEntry,
    PlantedKind,
    PlantedLabel,
    PlantedRow,
    planted_entries,
    score,
)
from unhack_verifier_bench.guesses import battery, chance, load_strategy, mean_reward

__all__ = [
    "ClaimStanding",
    "PlantedEntry",
    "PlantedKind",
    "PlantedLabel",
    "PlantedRow",
    "battery",
    "chance",
    "load_strategy",
    "mean_reward",
    "planted_entries",
    "score",
    "standings",
    "subject_of",
]
