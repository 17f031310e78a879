"""Turns joined into sequences, and what other trainers are given."""

from __future__ import annotations

from typing import Any

import pytest

from unhack.core.errors import UnhackError, UsageError
from unhack.integrations.trl.episodes import rollout_columns
from unhack.integrations.verl.episodes import agent_loop_fields
from unhack.training.episodes.episode import PlayedEpisode, PlayedTurn
from unhack.training.episodes.sequences import READ, join_turns, join_whole


def turn(prompt: str, action: str, *, state: str = "s", logprob: float = -0.5) -> PlayedTurn:
    """A turn over bytes."""
    size = len(action)
    return PlayedTurn(
        tuple(prompt.encode()), tuple(action.encode()), (True,) * size, (logprob,) * size, state
    )


def episode(*turns: PlayedTurn, **fields: Any) -> PlayedEpisode:
    """An episode that is solved, unless the fields say otherwise."""
    whole: dict[str, Any] = {"outcome": 1.0, **fields}
    return PlayedEpisode("task", turns, **whole)


APPENDED = episode(
    turn("Q>", "ls\n", state="a"), turn("Q>ls\nx.py\n>", "ok\n", state="b"), process=(0.5, -0.5)
)
"""Prompts that go on with everything before them."""


class TestJoining:
    def test_tool_output_is_in_the_sequence_and_out_of_the_loss(self) -> None:
        joined = join_whole(APPENDED)
        assert bytes(joined.prompt) == b"Q>"
        assert bytes(joined.completion) == b"ls\nx.py\n>ok\n"
        wrote = [byte for byte, mark in zip(joined.completion, joined.written, strict=True) if mark]
        assert bytes(wrote) == b"ls\nok\n"
        assert [log for log, mark in zip(joined.logprobs, joined.written, strict=True) if not mark]
        assert sum(joined.logprobs) == pytest.approx(-3.0)
        assert joined.turns == (0, 0, 0, *[READ] * 6, 1, 1, 1)

    def test_each_id_has_the_advantage_of_its_turn(self) -> None:
        assert join_whole(APPENDED).advantages([2.0, -1.0]) == [2.0] * 3 + [0.0] * 6 + [-1.0] * 3

    def test_a_prompt_that_was_rendered_anew_begins_another_sequence(self) -> None:
        anew = episode(turn("Q>", "ls\n"), turn("state 2>", "ok\n"), turn("state 2>ok\n!", "x\n"))
        assert [bytes(one.completion) for one in join_turns(anew)] == [b"ls\n", b"ok\n!x\n"]
        assert [one.turns for one in join_turns(anew)] == [(0, 0, 0), (1, 1, 1, READ, 2, 2)]
        with pytest.raises(UsageError, match="rendering it anew"):
            join_whole(anew)

    def test_a_prompt_that_merely_resembles_the_one_before_is_not_joined(self) -> None:
        """Tokenised again, the same text has other ids."""
        first = turn("Q>", "ls\n")
        second = turn("Q>ls \n>", "ok\n")
        assert len(join_turns(episode(first, second))) == 2

    def test_tool_output_inside_a_turn_stays_masked(self) -> None:
        inside = PlayedTurn((1,), (2, 3, 4), (True, False, True), (-1.0, 0.0, -2.0), "s")
        joined = join_whole(episode(inside))
        assert joined.turns == (0, READ, 0)
        assert joined.advantages([3.0]) == [3.0, 0.0, 3.0]


class TestExports:
    def test_trl_gets_ids_and_a_mask_of_the_same_length(self) -> None:
        columns = rollout_columns([APPENDED])
        assert set(columns) == {
            "prompt_ids", "completion_ids", "logprobs", "env_mask", "outcome", "process"
        }  # fmt: skip
        sizes = {len(columns[name][0]) for name in ("completion_ids", "logprobs", "env_mask")}
        assert sizes == {12}
        assert columns["env_mask"][0] == [1] * 3 + [0] * 6 + [1] * 3
        assert (columns["outcome"], columns["process"]) == ([1.0], [0.0])

    def test_verl_gets_the_fields_of_its_agent_loop(self) -> None:
        fields = agent_loop_fields(APPENDED)
        assert fields["response_mask"] == [1] * 3 + [0] * 6 + [1] * 3
        assert fields["reward_score"] == 1.0
        assert fields["num_turns"] == 4
        assert fields["extra_fields"]["turn_scores"] == [0.5, -0.5]
        assert fields["extra_fields"]["turn_states"] == ["a", "b"]

    def test_an_unscored_episode_is_no_zero_in_verl(self) -> None:
        with pytest.raises(UnhackError, match="could not be scored"):
            agent_loop_fields(episode(turn("Q>", "x\n"), outcome=None))
        assert rollout_columns([episode(turn("Q>", "x\n"), outcome=None)])["outcome"] == [None]


class TestRecords:
    def test_a_record_with_a_missing_number_is_refused(self) -> None:
        with pytest.raises(UsageError, match="one of each for every id"):
            PlayedTurn((1,), (2, 3), (True,), (0.0, 0.0), "s")
        with pytest.raises(UsageError, match="at least one id"):
            PlayedTurn((), (2,), (True,), (0.0,), "s")
        with pytest.raises(UsageError, match="at least one turn"):
            PlayedEpisode("task", (), 1.0)
        with pytest.raises(UsageError, match="2 process rewards, 1 turns"):
            episode(turn("Q>", "x\n"), process=(0.0, 1.0))

    def test_outcome_and_process_meet_at_the_end_alone(self) -> None:
        assert APPENDED.rewards() == [0.5, 0.5]
        assert APPENDED.rewards(process=0.0) == [0.0, 1.0]
        with pytest.raises(UsageError, match="leave it out"):
            episode(turn("Q>", "x\n"), outcome=None).rewards()

    def test_a_cut_episode_keeps_its_outcome(self) -> None:
        assert episode(turn("Q>", "x\n"), cut=True, outcome=0.0).rewards() == [0.0]
