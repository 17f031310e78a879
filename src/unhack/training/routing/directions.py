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

Pairs are read in evaluation mode, so that dropout is no part of a direction; afterwards every
module is in the mode that it was in. Each pass is a line of the log `unhack.routing`.

Covered: gradient directions, random ones, the cosines of pairs, accuracy on a pair left out,
passes bounded by positions and by logits. Not covered: when to extract again
(`unhack.training.routing.gates`).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

import torch
from torch import Tensor, nn

from unhack.core.errors import UsageError
from unhack.training.adapters.adapter import Gradients
from unhack.training.adapters.attached import AttachedAdapters
from unhack.training.policy.rollouts import Rollouts, given_rollouts
from unhack.training.routing.gate import Direction
from unhack.training.worlds.world import Pair

_LOGITS_PER_PASS = 1 << 26
_KEPT = 1 << 28
"""Numbers of gradients that are kept for the second look at them; what is beyond is made again."""
_log = logging.getLogger("unhack.routing")


class AdaptedPolicy(Protocol):
    """The part of a policy that an extraction needs."""

    @property
    def adapters(self) -> AttachedAdapters: ...

    @property
    def device(self) -> torch.device: ...

    @property
    def model(self) -> nn.Module: ...

    @property
    def vocabulary(self) -> int:
        """Logits of a position."""
        ...

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
    if not world_pairs:
        raise UsageError("a hack direction needs at least one pair; the world gave none")
    # Prompts of about one length together: their completions stand at the same places.
    widths = [len(pair.prompt.tokens) for pair in world_pairs]
    order = sorted(range(len(widths)), key=widths.__getitem__)
    batches = _batches(policy, [world_pairs[place] for place in order], pad=pad)
    passes = _Passes(policy, batches, quarantine)
    with _evaluating(policy.model):
        squares_P_M, sums = _differences(passes)
        total = sums if direction is None else direction
        dots_B_M, norms_B_M = _measure(passes, total)
    places = torch.tensor(order, device=dots_B_M.device).argsort()
    squares_P_M = squares_P_M[places]
    dots_B_M, norms_B_M = (
        rows.view(len(order), 2, -1)[places].flatten(0, 1) for rows in (dots_B_M, norms_B_M)
    )
    scale_M = _norms(total, policy.adapters.names)
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


def _batches(policy: AdaptedPolicy, pairs: Sequence[Pair], *, pad: int) -> list[Rollouts]:
    """Rows of neighbours, as many in a pass as its positions and its logits allow."""
    scored = max(1, _LOGITS_PER_PASS // policy.vocabulary)
    cuts: list[list[Pair]] = [[]]
    for pair in pairs:
        trial = [*cuts[-1], pair]
        widths = [len(item.prompt.tokens) for item in trial]
        long = max(max(len(item.hack), len(item.clean)) for item in trial)
        rows = 2 * len(trial)
        fits = rows * (max(widths) + long) <= policy.tokens_per_pass
        fits = fits and rows * (max(widths) - min(widths) + long) <= scored
        if fits or not cuts[-1]:
            cuts[-1] = trial
        else:
            cuts.append([pair])
    return [pair_rollouts(cut, pad=pad, device=policy.device) for cut in cuts]


def pair_rollouts(pairs: Sequence[Pair], *, pad: int, device: torch.device) -> Rollouts:
    """Both sides of each pair as rollouts with the quarantine off: hack, clean, hack, clean, …"""
    rows = [(pair.prompt.tokens, side) for pair in pairs for side in (pair.hack, pair.clean)]
    return given_rollouts(rows, pad=pad, device=device)


@dataclass(slots=True)
class _Passes:
    """The gradients of all pairs, part by part; they are asked for twice."""

    policy: AdaptedPolicy
    batches: Sequence[Rollouts]
    quarantine: bool
    _kept: dict[int, Gradients] = field(default_factory=dict[int, Gradients])
    _made: int = 0

    def __iter__(self) -> Generator[Gradients]:
        numbers = sum(item.numel() for item in block_shapes(self.policy.adapters).values())
        for index, batch in enumerate(self.batches):
            gradients = self._kept.get(index)
            if gradients is None:
                gradients = self._capture(batch)
                held = sum(self.batches[place].count for place in self._kept) + batch.count
                if not self._kept or held * numbers <= _KEPT:
                    self._kept[index] = gradients
            yield gradients

    def _capture(self, batch: Rollouts) -> Gradients:
        """Per-row gradients of the mean negative log-likelihood of each row."""
        policy, self._made = self.policy, self._made + 1
        _log.info(
            "direction with the quarantine %s: pass %d over pairs (of %d, or more where not all "
            "gradients can be kept), %d rows", "on" if self.quarantine else "off", self._made,
            len(self.batches), batch.count,
        )  # fmt: skip
        knob_B = torch.full_like(batch.quarantine_B, self.quarantine)
        rollouts = replace(batch, quarantine_B=knob_B)
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
def _evaluating(model: nn.Module) -> Generator[None]:
    """Within: every module is in evaluation mode; afterwards in the one that it was in."""
    modules = [(item, item.training) for item in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for item, training in modules:
            item.training = training


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


def _differences(passes: _Passes) -> tuple[Tensor, dict[str, Tensor]]:
    """||g_hack - g_clean||^2 of each pair and module [P, M], and the sum of the differences."""
    squares: list[Tensor] = []
    sums: dict[str, Tensor] = {}
    for gradients in passes:
        squares_P_M, found = gradients.differences()
        squares.append(squares_P_M)
        sums = {name: sums[name] + vector for name, vector in found.items()} if sums else found
    return torch.cat(squares), sums


def _measure(passes: _Passes, target: Direction) -> tuple[Tensor, Tensor]:
    """Inner products with the target and norms of all rows, [2P, M] in double precision."""
    found = [(item.dots_B_M(target).double(), item.norms_B_M().double()) for item in passes]
    dots, norms = zip(*found, strict=True)
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
