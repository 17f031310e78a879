"""A reward manager for verl that judges concurrent rollouts together.

    reward.reward_manager.source=importlib
    reward.reward_manager.name=BatchedRewardManager
    reward.reward_manager.module.path=pkg://unhack.integrations.verl.batches

verl calls `run_single` for each rollout on an event loop. All that are open at a time go to one
judge and share its workers; no call holds a thread.

Covered: rows as `scores` reads them; the cores of a node shared among its reward workers, unless
the environment variable UNHACK_SLOTS says how many each has; several outputs of a rollout (the last
is judged, as in verl's own managers); answers of tools, left out where the response mask is known:
it comes from `tool_loop` or in the batch. An unscored rollout raises after three tries;
verl fails that session alone.
Not covered: reward models; a custom reward function beside this manager, which is refused.
"""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import Mapping
from typing import Any, cast

from unhack.core.errors import UsageError
from unhack.integrations.verl.scores import has_tool_turns, row_task, scored
from unhack.sandbox.pool.pool import Pool
from unhack.sandbox.pool.worker_start import SLOTS
from unhack.tasks.execution.choosing import choose, shared_scheduler
from unhack.tasks.execution.scheduler import Scheduler

_ray: Any = importlib.import_module("ray")
_base: Any = importlib.import_module("verl.experimental.reward_loop.reward_manager.base")

MASK = "unhack_response_mask"
"""The extra field of a rollout that holds its response mask."""


class BatchedRewardManager(_base.RewardManagerBase):
    """Judges what several `run_single` calls bring.

    verl makes it, where `reward.reward_manager.name` in its configuration names it.

    Example:

        manager = BatchedRewardManager(config, tokenizer)
        scored = await manager.run_single(data)
    """

    def __init__(
        self,
        config: Any,
        tokenizer: Any,
        compute_score: Any = None,
        reward_router_address: str | None = None,
        reward_model_tokenizer: Any = None,
    ) -> None:
        """As verl makes it. Raises UsageError beside a custom reward function."""
        function: Any = config.reward.get("custom_reward_function")
        named: Any = function.get("path") if function else None
        if named:
            raise UsageError(
                f"reward.custom_reward_function.path is {named!r}, which this reward manager does "
                "not call; leave it out, or use another reward manager"
            )
        inherited: Any = super()
        inherited.__init__(config, tokenizer, compute_score)
        self._slots = _slots(config)
        self._scheduler = (
            Scheduler(choose(Pool(slots=self._slots))) if self._slots else shared_scheduler()
        )

    async def run_single(self, data: Any) -> dict[str, Any]:
        """`{"reward_score", "reward_extra_info"}` of the last output of a rollout.

        Raises UsageError for a row that names no task, and for a response of several turns without
        its mask; UnhackError where three tries could not score it.
        """
        item = data[-1:][0]
        row: Mapping[str, Any] = item.non_tensor_batch
        task = row_task(row.get("data_source"), row.get("extra_info"))
        ids = written_ids(item)
        text = await asyncio.to_thread(self.tokenizer.decode, ids, skip_special_tokens=True)
        found = scored(await self._scheduler.judge(task, str(text)))
        return {"reward_score": found["score"], "reward_extra_info": found}


def written_ids(item: Any) -> Any:
    """The token ids of a rollout's response that the policy wrote, the tools' left out.

    Raises UsageError where several turns come without a response mask.
    """
    responses = item.batch["responses"]
    width = responses.shape[-1]
    row: Mapping[str, Any] = item.non_tensor_batch
    known = item.batch["attention_mask"][-width:].sum() if "response_len" not in row else None
    length = int(row["response_len"] if known is None else known)
    mask = _mask(item)
    if mask is None:
        if has_tool_turns(row.get("__num_turns__")):
            raise UsageError(
                f"a response of {row['__num_turns__']} turns comes without its response mask, so "
                "the answers of tools would be judged; give the rows agent_name "
                "'unhack_tool_agent' (see the how-to)"
            )
        return responses[:length]
    kept = [at for at in range(length) if at < len(mask) and mask[at]]
    return responses[kept]


def _mask(item: Any) -> list[Any] | None:
    extra = item.non_tensor_batch.get("tool_extra_fields")
    if isinstance(extra, Mapping) and MASK in extra:
        return cast("list[Any]", extra[MASK])
    if "response_mask" in item.batch.keys():  # noqa: SIM118  a TensorDict is no mapping
        return cast("list[Any]", item.batch["response_mask"].tolist())
    return None


def _slots(config: Any) -> int:
    """Workers of this process: its share of the node's cores, 0 where the environment says it."""
    if os.environ.get(SLOTS):
        return 0
    nodes = 1
    if _ray.is_initialized():
        with_cores = [one for one in _ray.nodes() if one["Alive"] and one["Resources"].get("CPU")]
        nodes = max(1, len(with_cores))
    workers = int(config.reward.get("num_workers") or 1)
    here = -(-workers // nodes)
    return max(1, len(os.sched_getaffinity(0)) // here)
