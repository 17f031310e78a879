"""Gymnasium: one repository environment as a synchronous `gymnasium.Env`.

    env = RepositoryEnv(tasks)
    observation, info = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step('{"name": "list", "arguments": {}}')

An action is the JSON text of a tool call, an observation is text. Text that is no tool call is an
observation too, so that a policy that writes anything at all can be trained.

Covered: Gymnasium's own `check_env`; rendering as text (`render_mode="ansi"`).
Not covered: many episodes at once (`environments.episode_pool`), which is what training wants.
Source: Gymnasium 1.x, `Env`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import gymnasium
import numpy as np

from unhack.core.errors import UsageError
from unhack.environments.environment import RepositoryEnvironment
from unhack.environments.episode import EpisodeLimits
from unhack.environments.steps.rewards import StepRewards
from unhack.environments.task import RepositoryTask
from unhack.integrations.rows import tool_call

T = TypeVar("T")


class UnicodeText(gymnasium.Space[str]):
    """Every text up to a length; `gymnasium.spaces.Text` wants its characters enumerated."""

    def __init__(self, max_length: int, seed: int | np.random.Generator | None = None) -> None:
        """`max_length` counts characters."""
        self.max_length = max_length
        super().__init__((), np.str_, seed)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A short text of printable ASCII. Raises UsageError for a mask, which texts have not."""
        if mask is not None or probability is not None:
            raise UsageError("a text cannot be sampled with a mask")
        size = int(self.np_random.integers(0, min(self.max_length, 64) + 1))
        return "".join(chr(code) for code in self.np_random.integers(32, 127, size))

    def contains(self, x: Any) -> bool:
        """True for a text that is short enough."""
        return isinstance(x, str) and len(x) <= self.max_length

    @property
    def is_np_flattenable(self) -> bool:
        """False: a text has no fixed number of figures."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText) and other.max_length == self.max_length

    def __hash__(self) -> int:
        return hash(self.max_length)


class RepositoryEnv(gymnasium.Env[str, str]):
    """Repository tasks as a Gymnasium environment."""

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012  Gymnasium's own type

    def __init__(
        self,
        tasks: Sequence[RepositoryTask],
        *,
        limits: EpisodeLimits | None = None,
        rewards: StepRewards | None = None,
        render_mode: str | None = None,
    ) -> None:
        """See `environments.environment.RepositoryEnvironment`."""
        self.render_mode = render_mode
        self.action_space = UnicodeText(1 << 20)
        self.observation_space = UnicodeText(1 << 20)
        self._loop = asyncio.new_event_loop()
        self._env = RepositoryEnvironment(tasks, limits=limits, rewards=rewards)
        self._shown = ""

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode; `options["task"]` names a task by its id."""
        super().reset(seed=seed)
        observation, info = self._wait(self._env.reset(seed=seed, options=options))
        self._shown = observation.text
        return observation.text, info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Carry out a tool call: (observation, reward, terminated, truncated, info)."""
        stepped = self._wait(self._env.step(tool_call(action)))
        observation, reward, terminated, truncated, info = stepped
        self._shown = observation.text
        return observation.text, reward, terminated, truncated, info

    def render(self) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The last observation, for `render_mode="ansi"`."""
        return self._shown if self.render_mode == "ansi" else None

    def close(self) -> None:
        """End the sandbox's processes."""
        self._env.close()
        self._loop.close()

    def _wait(self, job: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(job)
