"""NeMo Gym: a resources server whose `verify` is our judge.

    # resources_servers/unhack/app.py
    from unhack.integrations.nemo_gym.server import TaskResourcesServer

    if __name__ == "__main__":
        TaskResourcesServer.run_webserver()

A row's `verifier_metadata.task` names the task. `write_server` writes the whole folder: app.py, the
config, requirements.txt and data/example.jsonl made of our tasks.

Covered: nemo-gym 0.4.0's request and response; the text of the last assistant message is judged;
an unscored item has `mask_sample: true` and the reward 0, after three tries, and the share of
those is a key metric; a row that names no task is HTTP 422 with the field.
Not covered: trainers that do not read `mask_sample`: for them the 0 is a 0.
Source: nemo-gym 0.4.0, `SimpleResourcesServer`.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import math
from typing import Any

from fastapi import HTTPException
from nemo_gym.base_resources_server import (
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)
from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticSerializationError

from unhack.core.errors import UsageError
from unhack.integrations.rows import named_task
from unhack.tasks.execution.choosing import shared_scheduler
from unhack.verifiers.reward import reward_of


class TaskMetadata(BaseModel):
    """The row's `verifier_metadata`; other keys are handed back as they are."""

    model_config = ConfigDict(extra="allow")

    task: str
    """Name of a task: a built-in one, a directory, `NAME#3` for a row of a text task."""


class TaskVerifyRequest(BaseVerifyRequest):
    """The row, the rollout's response, and the task's name; other columns are handed back."""

    model_config = ConfigDict(extra="allow")

    verifier_metadata: TaskMetadata


class TaskVerifyResponse(BaseVerifyResponse):
    """The request, and the verdict."""

    model_config = ConfigDict(extra="allow")

    verifier_metadata: TaskMetadata
    mask_sample: bool = False
    """True where there is no verdict: the reward is none, and no gradient may come of it."""
    passed: float = 0.0
    unscored: float = 0.0
    status: str = ""
    reason: str = ""


class TaskResourcesServer(SimpleResourcesServer):
    """Judges rollouts of our tasks."""

    async def verify(self, body: TaskVerifyRequest) -> TaskVerifyResponse:
        """The row's fields and the verdict. HTTP 422 for an unknown task."""
        try:
            body.model_dump_json()
        except PydanticSerializationError:
            text = "the row holds a lone surrogate, which an answer in JSON cannot hand back"
            raise HTTPException(422, text) from None
        try:
            task = await asyncio.to_thread(named_task, body.verifier_metadata.task)
        except UsageError as error:
            raise HTTPException(422, f"verifier_metadata.task: {error}") from None
        verdict = await shared_scheduler().judge(task, answer_of(body.response))
        reward = reward_of(verdict)
        return TaskVerifyResponse(
            **body.model_dump(),
            reward=0.0 if reward is None else reward,
            mask_sample=reward is None,
            passed=float(verdict.passed),
            unscored=float(reward is None),
            status=verdict.status.value,
            reason=verdict.reason,
        )

    def compute_metrics(self, tasks: list[list[dict[str, Any]]]) -> dict[str, Any]:
        """`unhack/reward` over the scored items, `unhack/unscored`, the share of the others."""
        every = [one for rollouts in tasks for one in rollouts]
        scored = [one["reward"] for one in every if not one.get("mask_sample")]
        if not every:
            return {}
        found = {"unhack/unscored": 1 - len(scored) / len(every)}
        if scored:
            found["unhack/reward"] = math.fsum(scored) / len(scored)
        return found

    def get_key_metrics(self, agent_metrics: dict[str, Any]) -> dict[str, Any]:
        """The figures of `compute_metrics`."""
        return {key: value for key, value in agent_metrics.items() if key.startswith("unhack/")}


def answer_of(response: Any) -> str:
    """The text of the last message of the assistant; "" where the rollout ends without one.

    `output_text` of a response joins all its messages, those before a tool call too.
    """
    for item in reversed(response.output or []):
        if getattr(item, "type", None) == "message" and item.role == "assistant":
            parts = (getattr(part, "text", "") for part in item.content)
            return "".join(part for part in parts if isinstance(part, str))
    return ""
