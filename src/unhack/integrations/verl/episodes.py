"""Episodes of several turns in the shape of verl's agent loop.

    class Loop(AgentLoopBase):
        async def run(self, sampling_params, **row):
            episode = ...                      # play it with self.server_manager
            return AgentLoopOutput(**agent_loop_fields(episode))

Covered: verl 0.9.1's fields; tool output is 0 in `response_mask`; a loop that sets `reward_score`
is not scored again, so no tool text is ever judged as the answer; process rewards stay apart, turn
by turn, in `extra_fields`. Not covered: credit per turn, which an advantage estimator of one's own
takes from `extra_fields`.
"""

from __future__ import annotations

from typing import Any

from unhack.core.errors import UnhackError
from unhack.training.episodes.episode import PlayedEpisode
from unhack.training.episodes.sequences import join_whole


def agent_loop_fields(episode: PlayedEpisode) -> dict[str, Any]:
    """The keywords of `AgentLoopOutput`.

    `extra_fields`: `turn_scores` (process reward of each turn), `turn_states` (state ids),
    `turn_numbers` (turn of each response id, -1 for tool output), `cut`. Raises UsageError for an
    episode whose prompts were rendered anew, UnhackError for an unscored one, which verl has no
    word for.
    """
    if episode.outcome is None:
        raise UnhackError(f"{episode.task}: the episode could not be scored; play it again")
    joined = join_whole(episode)
    return {
        "prompt_ids": list(joined.prompt),
        "response_ids": list(joined.completion),
        "response_mask": [int(mark) for mark in joined.written],
        "response_logprobs": list(joined.logprobs),
        "reward_score": episode.outcome,
        "num_turns": 2 * len(episode.turns),
        "metrics": {},
        "extra_fields": {
            "turn_scores": list(episode.process),
            "turn_states": [turn.state for turn in episode.turns],
            "turn_numbers": list(joined.turns),
            "cut": episode.cut,
        },
    }
