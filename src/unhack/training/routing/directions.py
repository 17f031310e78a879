"""The hack direction: what a gradient looks like that teaches the hack rather than the task.

Each side of a pair is teacher-forced with the quarantine off (or on, where that is asked for); its
loss is the mean negative
log-likelihood over its completion tokens, its gradient that of the deployed block. Per module

    v_m = unit(mean over pairs of (g_hack - g_clean))

so the whole direction has the norm of the square root of the number of modules. A labelled pair
with advantages +1 for the hack and -1 for the clean side has just this gradient of the GRPO loss.
The score of a rollout is the cosine of its *loss* gradient with v, advantage included: rewarding a
hack points along v, punishing one points against it.

The live loss divides by a constant, the pair loss by the length, so short completions weigh more
in v than in training. Cosines do not see the difference within one side.

Axes: P pairs, B rows (two per pair), T positions of the whole sequence, M modules, N numbers of a
block's parameters, R bottleneck.

Covered: gradient directions, random ones, the cosines of pairs, accuracy on a pair
left out. Not covered: when to extract again, and bands (`unhack.training.routing.gates`).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.training.adapters.adapter import Gradients
from unhack.training.adapters.attached import AttachedAdapters
from unhack.training.policy.rollouts import Rollouts, given_rollouts
from unhack.training.routing.gate import Direction
from unhack.training.worlds.world import Pair


class AdaptedPolicy(Protocol):
    """The part of a policy that an extraction needs."""

    @property
    def adapters(self) -> AttachedAdapters: ...

    @property
    def device(self) -> torch.device: ...

    @property
    def tokens_per_pass(self) -> int:
        """Rows of pairs are batched up to this many positions, padding included."""
        ...

    def score(self, rollouts: Rollouts) -> Tensor: ...


@dataclass(frozen=True, slots=True)
class DirectionExtraction:
    """A direction and how well it tells the two sides of its own pairs apart."""

    direction: Direction
    pair_cosines_hack: Tensor
    """[P]: cosine of each hack side with the whole direction."""
    pair_cosines_clean: Tensor
    module_cosines_hack: Tensor
    """[P, M]: the same within each module."""
    module_cosines_clean: Tensor
    accuracy: float
    """Share of pairs whose hack side has the larger cosine with the direction of the *other* pairs
    (for a given direction: with that). nan with a single pair."""


def extract(
    policy: AdaptedPolicy,
    world_pairs: Sequence[Pair],
    *,
    pad: int,
    direction: Direction | None = None,
    quarantine: bool = False,
) -> DirectionExtraction:
    """The hack direction of these pairs; with `direction`, only their cosines with that one.

    `quarantine`: the knob state of the forward passes. The gradients in `.grad` are as before
    afterwards. Raises UsageError without pairs.
    """
    batches = _batches(policy, world_pairs, pad=pad, quarantine=quarantine)
    captured = _capture(policy, batches[0])
    squares_P_M, sums = _differences(policy, batches, captured)
    total = sums if direction is None else direction
    dots_B_M, norms_B_M = _measure(policy, batches, captured, total)
    scale_M = _norms(total, captured.names)
    cosines_B_M = dots_B_M / (norms_B_M * scale_M).clamp(min=_TINY)
    modules = (scale_M > 0).double().sum().clamp(min=1)
    whole_B = (dots_B_M / scale_M.clamp(min=_TINY)).sum(1) / modules.sqrt()
    whole_B = whole_B / _row_norms(norms_B_M)
    if direction is None:
        accuracy = _left_out(dots_B_M[0::2], dots_B_M[1::2], norms_B_M, squares_P_M, scale_M)
        direction = _unit(total)
    else:
        accuracy = (whole_B[0::2] > whole_B[1::2]).double().mean().item()
    return DirectionExtraction(
        direction=direction,
        pair_cosines_hack=whole_B[0::2],
        pair_cosines_clean=whole_B[1::2],
        module_cosines_hack=cosines_B_M[0::2],
        module_cosines_clean=cosines_B_M[1::2],
        accuracy=accuracy,
    )


def random_direction(like: Direction, *, seed: int) -> dict[str, Tensor]:
    """A direction of the same shapes, each module's drawn uniformly from the unit sphere (Haar).

    The draw is made on the CPU, so it is the same on every device.
    """
    generator = torch.Generator().manual_seed(seed)
    drawn: dict[str, Tensor] = {}
    for name, vector in like.items():
        normal = torch.randn(vector.shape, generator=generator, dtype=torch.float32)
        drawn[name] = (normal / normal.square().sum().sqrt()).to(vector.device)
    return drawn


def block_shapes(adapters: AttachedAdapters) -> dict[str, Tensor]:
    """A zero vector [N] per module in the shape of the deployed block's gradient."""
    blocks = adapters.parameters("deployed")
    return {
        name: torch.zeros(sum(item.numel() for item in items), device=items[0].device)
        for name, items in blocks.items()
    }


_TINY = 1e-30


def _batches(
    policy: AdaptedPolicy, pairs: Sequence[Pair], *, pad: int, quarantine: bool = False
) -> list[Rollouts]:
    if not pairs:
        raise UsageError("a hack direction needs at least one pair; the world gave none")
    longest = max(len(pair.prompt.tokens) + max(len(pair.hack), len(pair.clean)) for pair in pairs)
    count = max(1, policy.tokens_per_pass // (2 * longest))
    device = policy.device
    batches = [
        pair_rollouts(pairs[first : first + count], pad=pad, device=device)
        for first in range(0, len(pairs), count)
    ]
    return [
        replace(batch, quarantine_B=torch.full_like(batch.quarantine_B, quarantine))
        for batch in batches
    ]


def pair_rollouts(pairs: Sequence[Pair], *, pad: int, device: torch.device) -> Rollouts:
    """Both sides of each pair as rollouts with the quarantine off: hack, clean, hack, clean, …"""
    rows = [(pair.prompt.tokens, side) for pair in pairs for side in (pair.hack, pair.clean)]
    return given_rollouts(rows, pad=pad, device=device)


def _capture(policy: AdaptedPolicy, rollouts: Rollouts) -> Gradients:
    """Per-row gradients of the mean negative log-likelihood of each row."""
    with (
        _preserve_gradients(policy.adapters),
        policy.adapters.capture(rollouts.count, tokens=False) as gradients,
    ):
        logprobs_B_T = policy.score(rollouts)
        lengths_B = rollouts.mask_B_T.sum(1)
        loss_B = -(logprobs_B_T * rollouts.mask_B_T).sum(1) / lengths_B
        loss_B.sum().backward()  # pyright: ignore[reportUnknownMemberType]
    return gradients


@contextmanager
def _preserve_gradients(adapters: AttachedAdapters) -> Generator[None]:
    """Within: `.grad` of both blocks is None; afterwards what it was."""
    parameters = adapters.every_parameter()
    before = [item.grad for item in parameters]
    for item in parameters:
        item.grad = None
    try:
        yield
    finally:
        for item, gradient in zip(parameters, before, strict=True):
            item.grad = gradient


def _differences(
    policy: AdaptedPolicy, batches: Sequence[Rollouts], first: Gradients
) -> tuple[Tensor, dict[str, Tensor]]:
    """||g_hack - g_clean||^2 of each pair and module [P, M], and the sum of the differences."""
    squares: list[Tensor] = []
    sums: dict[str, Tensor] = {}
    for index, batch in enumerate(batches):
        gradients = first if index == 0 else _capture(policy, batch)
        squares_P_M, found = gradients.differences()
        squares.append(squares_P_M)
        sums = {name: sums[name] + vector for name, vector in found.items()} if sums else found
    return torch.cat(squares), sums


def _measure(
    policy: AdaptedPolicy, batches: Sequence[Rollouts], first: Gradients, target: Direction
) -> tuple[Tensor, Tensor]:
    """Inner products with the target and norms of all rows, [2P, M] in double precision."""
    dots: list[Tensor] = []
    norms: list[Tensor] = []
    for index, batch in enumerate(batches):
        gradients = first if index == 0 else _capture(policy, batch)
        dots.append(gradients.dots_B_M(target).double())
        norms.append(gradients.norms_B_M().double())
    return torch.cat(dots), torch.cat(norms)


def _left_out(
    hack_P_M: Tensor, clean_P_M: Tensor, norms_B_M: Tensor, squares_P_M: Tensor, scale_M: Tensor
) -> float:
    """Accuracy with each pair's own difference d taken out of the sum S.

    Needs no further pass: <h, d> = (|h|^2 - |c|^2 + |d|^2) / 2, likewise <c, d>, and
    |S - d|^2 = |S|^2 - 2 <S, d> + |d|^2.
    """
    if hack_P_M.shape[0] < 2:
        return math.nan
    excess_P_M = norms_B_M[0::2].square() - norms_B_M[1::2].square()
    own_hack_P_M = (excess_P_M + squares_P_M) / 2
    own_clean_P_M = (excess_P_M - squares_P_M) / 2
    rest_P_M = scale_M.square() - 2 * (hack_P_M - clean_P_M) + squares_P_M
    rest_P_M = rest_P_M.clamp(min=0).sqrt().clamp(min=_TINY)
    hack_P = ((hack_P_M - own_hack_P_M) / rest_P_M).sum(1) / _row_norms(norms_B_M[0::2])
    clean_P = ((clean_P_M - own_clean_P_M) / rest_P_M).sum(1) / _row_norms(norms_B_M[1::2])
    return (hack_P > clean_P).double().mean().item()


def _norms(vectors: Mapping[str, Tensor], names: Sequence[str]) -> Tensor:
    return torch.stack([vectors[name].double().square().sum().sqrt() for name in names])


def _row_norms(norms_B_M: Tensor) -> Tensor:
    """[B]: the norm over all modules."""
    return norms_B_M.square().sum(1).sqrt().clamp(min=_TINY)


def _unit(vectors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Unit norm per module; a module without any gradient keeps its zeros."""
    return {
        name: vector / vector.double().square().sum().sqrt().clamp(min=_TINY).to(vector.dtype)
        for name, vector in vectors.items()
    }
