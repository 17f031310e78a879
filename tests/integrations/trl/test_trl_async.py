"""AsyncGRPOTrainer's own worker in its spawned process; a server of ours stands in for vLLM's."""

from __future__ import annotations

import pickle
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unhack.core.errors import UsageError
from unhack.integrations.trl import AnswerTasks, reward_function, watch
from unhack.sandbox.pool.pool import Pool

from .completions_server import served

worker_module: Any = pytest.importorskip("trl.experimental.async_grpo.async_rollout_worker")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def tokenizer(model: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model)


def test_what_the_spawned_worker_judges_comes_back_to_the_monitor(
    tokenizer: Any, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from accelerate import PartialState
    from datasets import Dataset

    PartialState()  # the trainer makes it before its worker

    rewards = reward_function(AnswerTasks("answer", check="numeric"))
    callback = watch(rewards.monitor)
    texts = ["</think>\\boxed{7}<|im_end|>", "</think>\\boxed{8}<|im_end|>"]
    rows = [{"prompt": [{"role": "user", "content": "3 + 4?"}], "answer": "7"}] * 4
    # The package asks for vLLM at the door, though only the server uses it.
    monkeypatch.setattr(worker_module, "is_vllm_available", lambda: True)
    with served([tokenizer(text)["input_ids"] for text in texts]) as address:
        worker = worker_module.AsyncRolloutWorker(
            model_name=str(model), dataset=Dataset.from_list(rows), reward_funcs=[rewards],
            processing_class=tokenizer, eos_token_ids=[tokenizer.eos_token_id],
            num_generations=4, max_inflight_tasks=4, queue_maxsize=64, vllm_server_url=address,
        )  # fmt: skip
        worker.start()
        try:
            samples = [worker.rollout_buffer.get(timeout=600) for _ in range(12)]
        finally:
            worker.stop()
    assert {one.metrics["rewards/unhack"] for one in samples} == {0.0, 1.0}
    assert rewards.monitor.seen == []
    callback.on_step_end(None, SimpleNamespace(global_step=3), None)
    seen = rewards.monitor.seen
    assert len(seen) >= 3
    assert {(one.step, one.groups) for one in seen} == {(3, 1)}
    for one in seen:  # which of the two texts a request gets depends on who came first
        assert one.reward in {0.0, 0.25, 0.5, 0.75, 1.0}
        assert one.zero_variance_share == float(one.reward in {0.0, 1.0})
    assert 0.0 < sum(one.reward for one in seen) < len(seen)


def test_a_journal_is_read_line_by_line_and_goes_with_its_maker() -> None:
    rewards = reward_function(AnswerTasks("answer", check="numeric"))
    path = Path(rewards.monitor.journal())
    copy = pickle.loads(pickle.dumps(rewards))  # noqa: S301  our own
    assert copy(["p"], ["\\boxed{7}"], answer=["7"]) == [1.0]
    assert copy.monitor.seen == []
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    rewards.monitor.catch_up(step=1)
    assert rewards.monitor.seen == []
    path.write_bytes(whole)
    rewards.monitor.catch_up(step=2)
    assert [one.step for one in rewards.monitor.seen] == [2]
    del rewards
    deadline = time.monotonic() + 60
    while path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not path.exists()
    assert copy(["p"], ["\\boxed{8}"], answer=["7"]) == [0.0]
    assert [one.reward for one in copy.monitor.seen] == [0.0]


def test_a_backend_stays_in_its_process() -> None:
    with closing(Pool(slots=1)) as backend:
        rewards = reward_function(AnswerTasks("answer"), backend=backend)
        with pytest.raises(UsageError, match="leave `backend` out"):
            pickle.dumps(rewards)
