"""TextArena: a game of Countdown, a move a line, until it ends or the moves do."""

from __future__ import annotations

from textarena.envs.Countdown.env import CountdownEnv

_MOVES = 12


def countdown(completion: str, ground_truth: dict[str, object]) -> float:
    """The game's reward for its only player."""
    game = CountdownEnv(numbers=list(ground_truth["numbers"]), target=ground_truth["target"])
    game.reset(num_players=1, seed=0)
    for move in (completion.splitlines() or [""])[:_MOVES]:
        done, _ = game.step(move)
        if done:
            break
    return float((game.state.rewards or {}).get(0, 0.0))
