"""Rollouts as verl's agent loops hand them to a reward manager."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from omegaconf import OmegaConf
from tensordict import TensorDict
from verl import DataProto

PACKAGE = "pkg://unhack.integrations.verl"


class Bytes:
    """A tokenizer whose ids are bytes."""

    def decode(self, ids: Any, skip_special_tokens: bool = True) -> str:
        """The text."""
        return bytes(int(one) for one in ids).decode()


def config(*, manager: str = "", path: str | None = None, workers: int = 1) -> Any:
    """verl's configuration of rewards; without `manager` it is ours."""
    ours = {"path": f"{PACKAGE}.batches", "name": None}
    chosen = {"source": "importlib", "name": "BatchedRewardManager", "module": ours}
    if manager:
        chosen = {"source": "register", "name": manager, "module": {"path": None, "name": None}}
    function = {"path": path, "name": "compute_score"}
    reward = {
        "num_workers": workers, "custom_reward_function": function, "reward_manager": chosen,
    }  # fmt: skip
    return OmegaConf.create({"reward": reward, "trainer": {"experiment_name": "x"}})


def rollout(text: str, **columns: Any) -> DataProto:
    """One rollout; a column of None is left out."""
    ids = torch.tensor([list(text.encode())], dtype=torch.int64)
    row: dict[str, Any] = {
        "data_source": "strings/knit-rows",
        "reward_model": {"style": "rule", "ground_truth": None},
        "extra_info": {},
        "__num_turns__": 2,
        **columns,
    }
    tensors = {
        "prompts": torch.zeros((1, 4), dtype=torch.int64),
        "responses": ids,
        "attention_mask": torch.ones((1, 4 + ids.shape[1]), dtype=torch.int64),
    }
    kept = {
        key: np.array([value, None], dtype=object)[:1]
        for key, value in row.items()
        if value is not None
    }
    return DataProto(batch=TensorDict(tensors, batch_size=1), non_tensor_batch=kept)
