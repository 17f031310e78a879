"""How the models of a world are built and trained: drawn, and told to nobody.

Covered: the shape of a model and its count of parameters, without torch.
Not covered: training (`training`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unhack_contests.scaling.trained.world.run_settings import WIDTH_STEP, LabSettings

ACTIVATIONS = ("gelu", "relu", "silu", "squared")
SCHEDULES = ("cosine", "linear", "plateau")


@dataclass(frozen=True, slots=True)
class ModelRecipe:
    """The settings that all runs of a world have in common."""

    vocabulary: int
    window: int
    """Tokens that a model sees at once."""
    activation: str
    expansion: int
    """Width of the hidden layer in widths."""
    tied: bool
    """True where the output layer is the embedding."""
    start: float
    """Factor on the initial weights."""
    betas: tuple[float, float]
    decay: float
    clip: float
    """Largest norm of a gradient."""
    warmup: float
    """Share of the steps."""
    final: float
    """Share of the peak rate at the end."""
    schedule: str
    unit: float
    """Learning rate of the optimiser at width 32 where the settings say 1."""
    narrowing: float
    """The optimiser's rate goes with the width to the power of minus this."""

    def tensors(self, width: int, depth: int) -> list[tuple[str, tuple[int, ...]]]:
        """Name and shape of every weight, in the order of the flat vector."""
        wide = self.expansion * width
        found: list[tuple[str, tuple[int, ...]]] = [
            ("embed", (self.vocabulary, width)), ("place", (self.window, width)),
        ]  # fmt: skip
        for layer in range(depth):
            found += [
                (f"{layer}.qkv", (width, 3 * width)), (f"{layer}.out", (width, width)),
                (f"{layer}.up", (width, wide)), (f"{layer}.down", (wide, width)),
            ]  # fmt: skip
        return found if self.tied else [*found, ("head", (width, self.vocabulary))]

    def parameters(self, settings: LabSettings) -> int:
        """All weights."""
        shapes = self.tensors(settings.width, settings.depth)
        return sum(math.prod(dims) for _, dims in shapes)

    def tokens(self, settings: LabSettings) -> int:
        """Tokens that a run is trained on."""
        return settings.steps * settings.batch * self.window

    def flops(self, settings: LabSettings) -> int:
        """Six for each parameter and token (Kaplan et al. 2020)."""
        return 6 * self.parameters(settings) * self.tokens(settings)

    def rate(self, settings: LabSettings, part: float) -> float:
        """The optimiser's learning rate when this part of the steps is done, in (0, 1]."""
        peak = settings.rate * self.unit * (settings.width / (4 * WIDTH_STEP)) ** -self.narrowing
        if part < self.warmup:
            return peak * part / self.warmup
        rest = (part - self.warmup) / (1 - self.warmup)
        if self.schedule == "cosine":
            return peak * (self.final + (1 - self.final) * 0.5 * (1 + math.cos(math.pi * rest)))
        if self.schedule == "linear":
            return peak * (1 - (1 - self.final) * rest)
        return peak * max(self.final, min(1.0, (1 - rest) / 0.2))


def draw_recipe(draw: np.random.Generator, *, window: int) -> ModelRecipe:
    """A recipe."""
    return ModelRecipe(
        vocabulary=int(draw.integers(18, 37)),
        window=window,
        activation=ACTIVATIONS[int(draw.integers(len(ACTIVATIONS)))],
        expansion=int(draw.integers(2, 6)),
        tied=bool(draw.random() < 0.5),
        start=float(np.exp(draw.uniform(-0.6, 0.4))),
        betas=(float(draw.uniform(0.8, 0.95)), float(draw.uniform(0.9, 0.99))),
        decay=float(draw.uniform(0.0, 0.3)),
        clip=float(np.exp(draw.uniform(-0.7, 1.5))),
        warmup=float(draw.uniform(0.01, 0.15)),
        final=float(draw.uniform(0.0, 0.3)),
        schedule=SCHEDULES[int(draw.integers(len(SCHEDULES)))],
        unit=float(np.exp(draw.uniform(math.log(3e-3), math.log(1.5e-2)))),
        narrowing=float(draw.uniform(0.0, 1.0)),
    )
