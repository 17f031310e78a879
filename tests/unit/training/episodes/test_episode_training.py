"""Playing and training over episodes, on a world of one letter and on the real loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
import torch

from unhack.core.errors import UnknownNameError, UsageError
from unhack.models.config import Config
from unhack.models.qwen3 import Qwen3
from unhack.training.adapters import attach
from unhack.training.config.settings import (
    AdapterSettings,
    ObjectiveSettings,
    OptimiserSettings,
)
from unhack.training.episodes.credit import CreditSettings
from unhack.training.episodes.episode import PlayedEpisode, PlayedTurn
from unhack.training.episodes.train import (
    LAWS,
    EpisodeSettings,
    TurnBatch,
    credited,
    episode_loss,
    falls,
    play,
    train_episodes,
    turn_batch,
)
from unhack.training.objectives.plain import numbers
from unhack.training.policy.policy import TinyPolicy
from unhack.training.worlds.turns import TurnResult


@dataclass(frozen=True, slots=True)
class Letters:
    """A row of letters to be written."""

    wanted: str
    written: str = ""


class LetterWorld:
    """Each turn writes a letter, `a` by even ids; the outcome is 1 where all are as wanted."""

    pad, stop, max_new, max_turns = 0, 1, 2, 3

    def task_id(self, state: Letters) -> str:
        return state.wanted

    def state_id(self, state: Letters) -> str:
        return state.written

    def prompt(self, state: Letters) -> tuple[int, ...]:
        return (2, *(3 + "ab".index(one) for one in state.wanted + state.written))

    def potentials(self, states: Sequence[Letters]) -> list[float]:
        return [
            sum(a == b for a, b in zip(one.written, one.wanted, strict=False)) / 3 for one in states
        ]

    def act(
        self, states: Sequence[Letters], actions: Sequence[Sequence[int]]
    ) -> list[TurnResult[Letters]]:
        found: list[TurnResult[Letters]] = []
        for state, action in zip(states, actions, strict=True):
            letter = "ab"[action[0] % 2]
            after = replace(state, written=state.written + letter)
            ended = len(after.written) == 3
            outcome = float(after.written == after.wanted) if ended else None
            [potential] = self.potentials([after])
            found.append(TurnResult(after, potential, ended, cut=ended, outcome=outcome))
        return found


def policy(seed: int = 0) -> TinyPolicy:
    with torch.random.fork_rng(devices=[]):  # pyright: ignore[reportUnknownMemberType]
        torch.random.manual_seed(seed)  # pyright: ignore[reportUnknownMemberType]
        model = Qwen3(Config(vocab=7, hidden=16, layers=1, heads=2, kv_heads=2, head_dim=8, ffn=32))
        # Adapters train what lies between embedding and head: these must tell tokens apart.
        model.lm_head.weight.data.mul_(20.0)
    adapters = attach(model, AdapterSettings(rank=8), seed=seed)
    return TinyPolicy(model, adapters, pad=0, stop=1, device="cpu")


def draws(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


class TestPlay:
    def test_every_state_is_played_to_its_end(self) -> None:
        starts = [Letters("abb"), Letters("abb"), Letters("bab")]
        episodes = play(LetterWorld(), policy(), starts, generator=draws(1), law=LAWS["shaped"])
        assert [one.task for one in episodes] == ["abb", "abb", "bab"]
        for one in episodes:
            assert len(one.turns) == 3
            assert len(one.potentials) == 4
            assert sum(one.process) == pytest.approx(-one.potentials[0])
            assert one.cut
            assert one.outcome in (0.0, 1.0)
            for turn in one.turns:
                assert all(turn.written)
                assert all(log <= 0 for log in turn.logprobs)

    def test_the_same_draws_give_the_same_episodes(self) -> None:
        first, second = (
            play(LetterWorld(), policy(), [Letters("abb")] * 4, generator=draws(2))
            for _ in range(2)
        )
        assert first == second

    def test_recorded_log_probabilities_are_those_of_scoring(self) -> None:
        """Prompts of different lengths stand side by side, padded on the left."""
        chosen = policy()
        episodes = play(
            LetterWorld(), chosen, [Letters("abb"), Letters("aba", "b")], generator=draws(3)
        )
        batch = turn_batch(episodes, [[1.0] * len(one.turns) for one in episodes], pad=0, tokens=6)
        assert batch is not None
        scores = chosen.score(batch.rollouts)
        torch.testing.assert_close(scores.detach(), batch.rollouts.logprobs_B_T, atol=1e-5, rtol=0)


def _turn(*tokens: int, prompt: tuple[int, ...] = (2, 3), state: str = "s") -> PlayedTurn:
    return PlayedTurn(prompt, tokens, (True,) * len(tokens), (-1.0,) * len(tokens), state)


class TestBatches:
    def test_an_unscored_episode_is_left_out_and_is_nobodys_peer(self) -> None:
        episodes = [
            PlayedEpisode("x", (_turn(3, 1),), 1.0),
            PlayedEpisode("x", (_turn(4, 1),), None),
            PlayedEpisode("x", (_turn(5, 1),), 0.0),
        ]
        assert credited(episodes) == [[1.0], [0.0], [-1.0]]

    def test_the_divisor_is_constant_whatever_the_policy_did(self) -> None:
        chosen = policy()
        objective = ObjectiveSettings(policy="reinforce")

        def loss(*episodes: PlayedEpisode, advantages: list[list[float]]) -> float:
            batch = turn_batch(episodes, advantages, pad=0, tokens=6)
            assert batch is not None
            return episode_loss(chosen, batch, objective).item()

        one = PlayedEpisode("x", (_turn(3, 1),), 1.0)
        long = PlayedEpisode("x", (_turn(3, 1), _turn(3, 1)), 1.0)
        idle = PlayedEpisode("x", (_turn(3, 1),), 0.0)
        alone = loss(one, advantages=[[1.0]])
        assert loss(long, advantages=[[1.0, 1.0]]) == pytest.approx(2 * alone)
        assert loss(one, idle, advantages=[[1.0], [0.0]]) == pytest.approx(alone / 2)

    def test_tool_output_is_read_but_never_learnt(self) -> None:
        chosen = policy()
        base = PlayedTurn((2,), (3, 4, 5), (True, False, True), (-1.0, 0.0, -1.0), "s")
        others = [replace(base, completion=(3, other, 5)) for other in (4, 6)]
        rows: list[torch.Tensor] = []
        for turn in others:
            batch = turn_batch(
                [PlayedEpisode("x", (turn,), 1.0), PlayedEpisode("x", (_turn(3, 1),), 1.0)],
                [[1.0], [1.0]],
                pad=0,
                tokens=6,
            )
            assert batch is not None
            assert numbers(batch.rollouts.mask_B_T[0]) == [True, False, True]
            rows.append(chosen.score(batch.rollouts)[0].detach())
        assert rows[0][1] == rows[1][1] == 0.0
        assert rows[0][0] == rows[1][0]
        assert rows[0][2] != rows[1][2], "what was read has to reach what is written after it"

    def test_turns_without_an_advantage_make_no_row(self) -> None:
        episodes = [PlayedEpisode("x", (_turn(3, 1), _turn(4, 1)), 1.0)]
        batch = turn_batch(episodes, [[0.0, 2.0]], pad=0, tokens=6)
        assert isinstance(batch, TurnBatch)
        assert batch.rollouts.count == 1
        assert numbers(batch.whole) == [1.0, 1.0, 1.0, 2.0]
        assert turn_batch(episodes, [[0.0, 0.0]], pad=0, tokens=6) is None
        with pytest.raises(UsageError, match="1 advantages for 2 turns"):
            turn_batch(episodes, [[1.0]], pad=0, tokens=6)


class TestTraining:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "settings",
        [
            pytest.param(EpisodeSettings(), id="outcome"),
            pytest.param(
                EpisodeSettings(law="shaped", credit=CreditSettings(trace=0.0)), id="steps"
            ),
            pytest.param(EpisodeSettings(credit=CreditSettings("gigpo")), id="gigpo"),
        ],
    )
    def test_a_small_policy_learns_to_write_what_is_wanted(self, settings: EpisodeSettings) -> None:
        chosen = replace(
            settings, group=32, steps=60, seed=1, optimiser=OptimiserSettings(rate=1e-2)
        )
        torch.set_num_threads(1)
        steps = list(
            train_episodes(LetterWorld(), policy(), lambda step: [Letters("abb")], settings=chosen)
        )
        assert steps[0].solved < 0.3
        assert sum(one.solved for one in steps[-5:]) / 5 > 0.6
        assert steps[-1].episodes == 60 * 32

    def test_without_a_signal_nothing_moves(self) -> None:
        chosen = policy()
        before = {name: item.clone() for name, item in chosen.adapters.state().items()}

        class Unsolvable(LetterWorld):
            """Every outcome is 0."""

            def act(
                self, states: Sequence[Letters], actions: Sequence[Sequence[int]]
            ) -> list[TurnResult[Letters]]:
                found = super().act(states, actions)
                return [replace(one, outcome=0.0 if one.ended else None) for one in found]

        settings = EpisodeSettings(steps=2, group=2)
        steps = train_episodes(
            Unsolvable(), chosen, lambda step: [Letters("abb")], settings=settings
        )
        assert [one.norm for one in steps] == [0.0, 0.0]
        after = chosen.adapters.state()
        assert all(torch.equal(item, after[name]) for name, item in before.items())

    def test_falls_count_what_was_lost_on_the_way(self) -> None:
        assert falls([0.0, 0.5, 0.25, 1.0]) == 0.25
        assert falls([]) == 0.0

    def test_an_unknown_law_is_named(self) -> None:
        with pytest.raises(UnknownNameError, match="newly_passing"):
            EpisodeSettings(law="newly")
