"""Answers to one draw, beside what the judge's own law says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unhack_contests.scaling.draw.chinchilla import forecast
from unhack_contests.scaling.draw.draws import Draw
from unhack_contests.scaling.runs.ladder import Array
from unhack_contests.scaling.score import interval_score, strain


@dataclass(frozen=True, slots=True)
class DrawVerdict:
    """Answers to one draw, in its units."""

    draw: Draw
    bought: tuple[int, ...]
    answers: Array

    @property
    def runs(self) -> dict[str, Any]:
        """The runs that were known."""
        return self.draw.runs(self.bought)

    def scores(self) -> Array:
        """(q,): of the answers, in units of the draw's floor, so that draws can be joined."""
        return interval_score(self.answers, self.draw.outcomes) / self.draw.family.floor

    def baseline(self) -> Array:
        """(q,): of the judge's own law on the runs that are known to who does not choose."""
        runs, asked = self.draw.runs(self.draw.usual), self.draw.queries()
        known = runs["parameters"], runs["tokens"], runs["loss"]
        wanted = asked["parameters"], asked["tokens"]
        law = forecast(known, wanted, floor=self.draw.family.floor)
        return interval_score(law, self.draw.outcomes) / self.draw.family.floor

    def noise(self) -> Array:
        """(q,): standard deviation between seeds, in units of the floor."""
        return np.full(len(self.answers), self.draw.noise / self.draw.family.floor)

    def strain(self) -> float:
        """See `score.strain`."""
        return strain(self.answers, self.draw.outcomes, noise=self.draw.noise)
