"""Base models of the world: byte-level, pretrained from nothing on its text, kept in a folder.

Same seed, same machine: same weights. Covered: several processes may ask for one model at once;
each writes a whole file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor

from unhack.core.hashing import content_hash
from unhack.models.config import Config
from unhack.models.pretrain import PretrainingRecipe, pretrain
from unhack.models.qwen3 import Qwen3
from unhack.training.worlds.programs.base import keep, load_kept
from unhack_study.repairs import corpus
from unhack_study.repairs.world import PAD

CONFIG = Config(vocab=256, hidden=48, layers=2, heads=3, kv_heads=3, head_dim=16, ffn=144)
RECIPE = PretrainingRecipe(steps=900, rate=8e-3, warmup=100)
BATCH = 64
_SHOWN = 200
"""Documents that stand for the corpus in the key."""


def repairs_base(seed: int, *, folder: Path) -> Qwen3:
    """The pretrained model of a seed, from the folder or made now (minutes)."""
    shown = list(islice(corpus.documents(seed, careful=_SHOWN // 2), _SHOWN))
    parts = (asdict(CONFIG), asdict(RECIPE), BATCH, seed, corpus.CAREFUL_SHARE, shown)
    path = folder / f"repairs-{content_hash(*map(repr, parts))[:16]}.safetensors"
    with torch.random.fork_rng(devices=[]):  # pyright: ignore[reportUnknownMemberType]
        torch.random.manual_seed(seed)  # pyright: ignore[reportUnknownMemberType]
        model = Qwen3(CONFIG)
    if path.exists():
        return load_kept(model, path)
    inside: list[Tensor] = []
    pretrain(
        model,
        _windows(seed, inside),
        recipe=RECIPE,
        logits=lambda tokens_B_T: model(tokens_B_T) * inside[0][:, :, None],
    )
    keep(model, path)
    return model.eval()


def _windows(seed: int, inside: list[Tensor]) -> Iterator[Tensor]:
    """Endless int64 [B, T + 1] of padded documents. `inside[0]` marks the positions [B, T] whose
    next token is the author's: nothing is learnt from what is read."""
    source = corpus.documents(seed, careful=round(corpus.CAREFUL_SHARE * RECIPE.steps * BATCH))
    while True:
        rows = list(islice(source, BATCH))
        width = max(len(read) + len(action) for read, action in rows)
        tokens_B_T = torch.full((BATCH, width), PAD, dtype=torch.int64)
        marks_B_T = torch.zeros((BATCH, width - 1), dtype=torch.bool)
        for index, (read, action) in enumerate(rows):
            whole = read + action
            tokens_B_T[index, : len(whole)] = torch.tensor(list(whole))
            marks_B_T[index, len(read) - 1 : len(whole) - 1] = True
        inside[:] = [marks_B_T]
        yield tokens_B_T
