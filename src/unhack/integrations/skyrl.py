"""SkyRL-gym: our tasks and repository episodes as a text environment.

    # in the entry point's process, before the trainer starts
    import skyrl_gym
    skyrl_gym.register(id="unhack", entry_point="unhack.integrations.skyrl:TaskEnv")

    {"prompt": [...], "env_class": "unhack", "reward_spec": {"ground_truth": "strings/knit-rows"}}

The row's `reward_spec.ground_truth` names the task. `rows` makes rows whose prompt is the task's.
`max_turns` above 1 gives a wrong answer another try; a repository task takes a tool call a turn.

Covered: SkyRL-gym 0.4.0's shapes; any number of environments in threads, which share one judge;
an unscored end raises UnhackError after three tries, since SkyRL has no word for it; a last turn of
an episode is judged as its files stand.
Not covered: SkyRL's own tool groups; the trainer, which needs GPUs.
Source: skyrl-gym 0.4.0, `BaseTextEnv`.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from unhack.core.errors import UnhackError, UsageError
from unhack.integrations.sessions import begin_session, opening_of
from unhack.integrations.task_names import name_of, one_task, tasks_of

_EXAMPLE = "such as {'ground_truth': 'strings/knit-rows'}"
_SUBMIT = '{"name": "submit", "arguments": {}}'


class TaskEnv(BaseTextEnv):
    """One rollout of a task.

    Example:

        skyrl_gym.register(id="unhack", entry_point="unhack.integrations.skyrl:TaskEnv")
        env = TaskEnv(extras={"reward_spec": {"ground_truth": "strings/knit-rows"}})
        env.step(completion)["reward"]
    """

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        """`extras`: the row's columns and `max_turns`. Raises UsageError naming the column."""
        super().__init__()
        del env_config
        row = extras or {}
        turns = row.get("max_turns", 1)
        if isinstance(turns, bool) or not isinstance(turns, int) or turns < 1:
            raise UsageError(f"max_turns is {turns!r}; it is a whole number from 1 on")
        self.max_turns = turns
        self._session = begin_session(one_task(_name_in(row)), tries=turns)
        self._facts: dict[str, Any] = {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Judge or carry out a reply. Raises UnhackError for an end that cannot be scored."""
        self.turns += 1
        step = self._session.step(action)
        reward = step.reward
        if not step.done and self.turns >= self.max_turns:
            step = self._session.step(_SUBMIT)
            reward = step.reward if step.reward is None else step.reward + (reward or 0.0)
        self._facts = step.facts
        if reward is None:
            raise UnhackError(
                f"{self._session.task_id}: the rollout could not be scored after three tries"
                f" ({step.facts.get('reason', '')}); SkyRL has no reward for that"
            )
        said = [] if step.done else [{"role": "user", "content": step.text}]
        return BaseTextEnvStepOutput(
            observations=said, reward=reward, done=step.done, metadata=dict(step.facts)
        )

    def get_metrics(self) -> dict[str, Any]:
        """`passed` and `turns` of the rollout."""
        return {"passed": float(self._facts.get("passed", False)), "turns": self.turns}


def rows(names: Sequence[str], *, env_class: str = "unhack") -> Iterator[dict[str, Any]]:
    """A row for each task of the names: prompt, env_class, reward_spec. Raises UsageError."""
    for name in names:
        for task in tasks_of(name):
            yield {
                "prompt": [{"role": "user", "content": opening_of(task)}],
                "env_class": env_class,
                "reward_spec": {"method": "rule", "ground_truth": name_of(task)},
            }


def _name_in(row: Mapping[str, Any]) -> str:
    spec = row.get("reward_spec")
    if not isinstance(spec, Mapping):
        raise UsageError(f"the row has no column reward_spec with a mapping, {_EXAMPLE}")
    name = spec.get("ground_truth")
    if not isinstance(name, str) or not name:
        raise UsageError(f"reward_spec.ground_truth is {name!r:.80}; it names a task, {_EXAMPLE}")
    return name
