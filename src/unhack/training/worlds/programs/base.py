"""Base models of the world: pretrained from nothing on its text, and kept in the user's cache.

The key of the cache is a hash of the size, the seed, the recipe and the corpus itself, so a change
of any of them gives another file. Same key, same machine: same weights.

Covered: several processes may ask for one model at once; each writes whole files. Not covered:
weights differ between machines in the last bits, as sums of floats do.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.numpy import (
    load_file,  # pyright: ignore[reportUnknownVariableType]
    save,
)
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.core.hashing import content_hash
from unhack.models.config import Config
from unhack.models.pretrain import PretrainingRecipe, pretrain
from unhack.models.qwen3 import Qwen3
from unhack.training.config.settings import ModelSettings
from unhack.training.worlds.programs import corpus, vocabulary
from unhack.training.worlds.world import World

_SHOWN = 400
"""Documents that stand for the corpus in the key."""


@dataclass(frozen=True, slots=True)
class BasePlan:
    """Shape of a model and how long it learns."""

    config: Config
    recipe: PretrainingRecipe
    batch: int = 128


def _config(hidden: int, layers: int, heads: int) -> Config:
    return Config(
        vocab=len(vocabulary.FRAGMENTS),
        hidden=hidden,
        layers=layers,
        heads=heads,
        kv_heads=heads,
        head_dim=hidden // heads,
        ffn=3 * hidden,
    )


PLANS: dict[str, BasePlan] = {
    "nano": BasePlan(_config(64, 2, 4), PretrainingRecipe(steps=2000, rate=6e-3, warmup=100), 64),
    "small": BasePlan(_config(160, 3, 5), PretrainingRecipe(steps=1500, rate=3e-3, warmup=100)),
    "medium": BasePlan(_config(352, 7, 11), PretrainingRecipe(steps=1500, rate=1e-3, warmup=100)),
    "large": BasePlan(_config(640, 10, 10), PretrainingRecipe(steps=2000, rate=5e-4, warmup=200)),
    "huge": BasePlan(_config(1024, 24, 16), PretrainingRecipe(steps=1000, rate=3e-4, warmup=200)),
}
"""By the name of the size: 0.1M, 1M, 11M, 53M and 327M parameters."""


def base_model(settings: ModelSettings, world: World, *, folder: Path | None = None) -> Qwen3:
    """The pretrained model of a size and seed, from the cache or made now.

    `folder`: the cache; `$XDG_CACHE_HOME/unhack/bases` (or `~/.cache`) without it. Raises
    ValueError for a world of another vocabulary, UsageError for a damaged file of the cache.
    """
    plan = PLANS[settings.size]
    if world.vocabulary not in (plan.config.vocab, len(vocabulary.WIDER)):
        raise ValueError(f"the world {world.name} has another vocabulary than its base models")
    plan = replace(plan, config=replace(plan.config, vocab=world.vocabulary))
    name = f"programs-{settings.size}-{_key(settings, plan)}.safetensors"
    path = (folder or cache_folder()) / name
    if path.exists():
        return load_kept(Qwen3(plan.config), path).to(settings.device)
    model = pretrain_base(plan, seed=settings.base_seed, device=settings.device)
    keep(model, path)
    return model


def pretrain_base(plan: BasePlan, *, seed: int, device: str = "cpu") -> Qwen3:
    """Pretrain a model. The global random state of torch is left as it was."""
    with torch.random.fork_rng(devices=[]):  # pyright: ignore[reportUnknownMemberType]
        torch.random.manual_seed(seed)  # pyright: ignore[reportUnknownMemberType]
        model = Qwen3(plan.config)
    model.to(device)
    pretrain(
        model,
        windows(seed, plan=plan),
        recipe=plan.recipe,
        logits=lambda tokens_B_T: _of_programs(model, tokens_B_T),
    )
    return model.eval()


def _of_programs(model: Qwen3, tokens_B_T: Tensor) -> Tensor:
    """Logits whose gradient stops at positions before the program and behind its end: nothing is
    learnt from prompts, whose digits are drawn at random."""
    starter = vocabulary.TOKEN[vocabulary.STARTER]
    inside_B_T = (tokens_B_T == starter).cumsum(1) > 0
    inside_B_T &= (tokens_B_T != vocabulary.PAD) & (tokens_B_T != vocabulary.STOP)
    logits_B_T_V = model(tokens_B_T)
    return logits_B_T_V * inside_B_T[:, :, None]


def windows(seed: int, *, plan: BasePlan) -> Iterator[Tensor]:
    """Endless int64 [B, T] of padded documents; T is that of the longest in the batch."""
    careful = round(corpus.CAREFUL_SHARE * plan.recipe.steps * plan.batch)
    source = corpus.documents(seed, careful=careful, wider=_is_wider(plan))
    while True:
        rows = [next(source) for _ in range(plan.batch)]
        width = max(map(len, rows))
        tokens_B_T = torch.full((plan.batch, width), vocabulary.PAD, dtype=torch.int64)
        for index, row in enumerate(rows):
            tokens_B_T[index, : len(row)] = torch.tensor(row)
        yield tokens_B_T


def _key(settings: ModelSettings, plan: BasePlan) -> str:
    """A hash of the plan, the seed, the vocabulary and the first documents of both authors."""
    wider = _is_wider(plan)
    documents = corpus.documents(settings.base_seed, careful=_SHOWN // 2, wider=wider)
    shown = [next(documents) for _ in range(_SHOWN)]
    fragments = vocabulary.WIDER if wider else vocabulary.FRAGMENTS
    parts = (asdict(plan), settings.base_seed, fragments, shown, corpus.CAREFUL_SHARE)
    return content_hash(*map(repr, parts))[:16]


def _is_wider(plan: BasePlan) -> bool:
    return plan.config.vocab == len(vocabulary.WIDER)


def cache_folder() -> Path:
    """The user's cache of base models."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "unhack" / "bases"


def load_kept(model: Qwen3, path: Path) -> Qwen3:
    """The model with the weights of a file. Raises UsageError for a damaged one."""
    try:
        stored = load_file(path).items()
    except SafetensorError as error:
        raise UsageError(f"{path} is not a safetensors file ({error}): delete it") from error
    model.load_state_dict({name: torch.tensor(array) for name, array in stored})
    return model.eval()


def keep(model: Qwen3, path: Path) -> None:
    """Write the weights as one whole file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    weights = {name: tensor.cpu().numpy() for name, tensor in model.state_dict().items()}
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(save(weights))
    Path(file.name).replace(path)
