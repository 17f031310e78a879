"""Turns joined into sequences: one prompt, then what the policy wrote and what it read, masked.

A turn goes on with the sequence before it only where its prompt begins with exactly those ids;
what the prompt adds is tool output. Where a prompt was rendered anew a new sequence begins, so
that every id stands behind what the policy had read when it wrote it.

Covered: masks, log-probabilities and the turn of every id. Not covered: tokenising again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unhack.core.errors import UsageError
from unhack.training.episodes.episode import PlayedEpisode, PlayedTurn

READ = -1
"""In `JoinedTurns.turns`: the policy did not write this id."""


@dataclass(frozen=True, slots=True)
class JoinedTurns:
    """Turns in one sequence of ids."""

    prompt: tuple[int, ...]
    completion: tuple[int, ...]
    """Everything after the prompt, tool output included."""
    written: tuple[bool, ...]
    """True for each id of the completion that the policy wrote: the mask of the loss."""
    logprobs: tuple[float, ...]
    turns: tuple[int, ...]
    """Number of the turn that wrote each id, `READ` for tool output."""

    def advantages(self, credits: Sequence[float]) -> list[float]:
        """The advantage of each id of the completion from that of each turn; 0 for tool output."""
        return [0.0 if turn == READ else credits[turn] for turn in self.turns]


def join_turns(episode: PlayedEpisode) -> list[JoinedTurns]:
    """The sequences of an episode, one where every prompt goes on with what came before."""
    found: list[JoinedTurns] = []
    for number, turn in enumerate(episode.turns):
        before = found[-1].prompt + found[-1].completion if found else ()
        if found and turn.prompt[: len(before)] == before:
            found[-1] = _extended(found[-1], turn, turn.prompt[len(before) :], number)
        else:
            start = JoinedTurns(turn.prompt, (), (), (), ())
            found.append(_extended(start, turn, (), number))
    return found


def join_whole(episode: PlayedEpisode) -> JoinedTurns:
    """The one sequence of an episode. Raises UsageError where a prompt was rendered anew."""
    found = join_turns(episode)
    if len(found) > 1:
        raise UsageError(
            f"{episode.task}: the prompts of {len(found) - 1} turns do not go on with the ids "
            "before them, so the episode is no single sequence; train on `turn_batch`, or append "
            "observations to the prompt instead of rendering it anew"
        )
    return found[0]


def _extended(
    joined: JoinedTurns, turn: PlayedTurn, read: tuple[int, ...], number: int
) -> JoinedTurns:
    """The sequence with tool output and one more turn."""
    marks = tuple(number if written else READ for written in turn.written)
    return JoinedTurns(
        prompt=joined.prompt,
        completion=joined.completion + read + turn.completion,
        written=joined.written + (False,) * len(read) + turn.written,
        logprobs=joined.logprobs + (0.0,) * len(read) + turn.logprobs,
        turns=joined.turns + (READ,) * len(read) + marks,
    )
