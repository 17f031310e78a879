"""Extraction of a direction from a model in training: its mode, its cost, its log."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import torch
from tests.unit.routing.models import PAIRS, SmallModel, made
from torch import Tensor, nn

from unhack.routing import Quarantine, TextPair, attach
from unhack.routing.pairs import encode_pairs
from unhack.routing.scorer import PairScorer
from unhack.training.routing import directions
from unhack.training.routing.directions import extract, pair_rollouts
from unhack.training.worlds.world import Pair

VOCAB = 40


class Noisy(SmallModel):
    """Dropout by a function, which looks at the mode, and a part that its user keeps evaluating."""

    def __init__(self) -> None:
        super().__init__()
        self.frozen = nn.Dropout(0.9).eval()

    def _block(self, hidden: Tensor) -> Tensor:
        found = super()._block(self.frozen(hidden))
        return nn.functional.dropout(found, 0.5, training=self.training)


def llama(**named: Any) -> Quarantine:
    """A small Llama with both blocks away from their start."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    settings = transformers.LlamaConfig(
        vocab_size=VOCAB, hidden_size=16, intermediate_size=24, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, **named,
    )  # fmt: skip
    quarantine = attach(transformers.LlamaForCausalLM(settings).train(), rank=3)
    generator = torch.Generator().manual_seed(5)
    for item in quarantine.parameters():
        item.data += 0.3 * torch.randn(item.shape, generator=generator)
    return quarantine


def mixed(count: int = 6) -> list[Pair]:
    """Pairs whose prompts and completions have many lengths, the longest prompt first."""
    generator = torch.Generator().manual_seed(2)

    def drawn(length: int) -> list[int]:
        return torch.randint(1, VOCAB, (length,), generator=generator).tolist()

    rows = [
        TextPair(drawn(3 * (count - at) + 1), [9, *drawn(1 + at % 3)], drawn(4 - at % 3))
        for at in range(count)
    ]
    return encode_pairs(rows, None)


def whole(found: directions.DirectionExtraction) -> Tensor:
    return torch.cat([found.direction[name].flatten() for name in sorted(found.direction)])


def noisy() -> Quarantine:
    torch.manual_seed(1)
    model = Noisy().double()
    quarantine = attach(model, rank=3)
    for item in quarantine.parameters():
        item.data += 0.3 * torch.randn_like(item)
    model.train()
    model.frozen.eval()
    return quarantine


@pytest.mark.parametrize("named", [{"attention_dropout": 0.5}, None])
def test_dropout_is_no_part_of_a_direction(named: Any) -> None:
    quarantine = noisy() if named is None else llama(**named)
    pairs = encode_pairs(PAIRS, None)
    found = [whole(extract(PairScorer(quarantine), pairs, pad=0)) for _ in range(2)]
    assert torch.equal(*found)
    quarantine.model.eval()
    assert torch.equal(found[0], whole(extract(PairScorer(quarantine), pairs, pad=0)))


@pytest.mark.parametrize("fails", [False, True])
def test_every_module_is_in_its_own_mode_again(fails: bool, monkeypatch: Any) -> None:
    quarantine, seen = noisy(), list[bool]()
    modes = {name: item.training for name, item in quarantine.model.named_modules()}
    assert set(modes.values()) == {True, False}
    score = PairScorer.score

    def spied(self: PairScorer, rollouts: Any) -> Tensor:
        seen.append(any(item.training for item in self.model.modules()))
        if fails:
            raise KeyboardInterrupt
        return score(self, rollouts)

    monkeypatch.setattr(PairScorer, "score", spied)
    if fails:
        with pytest.raises(KeyboardInterrupt):
            extract(PairScorer(quarantine), encode_pairs(PAIRS, None), pad=0)
    else:
        extract(PairScorer(quarantine), encode_pairs(PAIRS, None), pad=0)
    assert seen == [False]
    assert modes == {name: item.training for name, item in quarantine.model.named_modules()}


@pytest.mark.parametrize("keeps", [True, False])
def test_scores_are_those_of_each_row_alone(keeps: bool, monkeypatch: Any) -> None:
    quarantine, pairs = llama(), mixed()
    if not keeps:
        monkeypatch.setattr("unhack.routing.scorer._keeps", lambda _: False)
    rollouts = pair_rollouts(pairs, pad=0, device=torch.device("cpu"))
    found = PairScorer(quarantine).score(rollouts)
    sides = [(pair, side) for pair in pairs for side in (pair.hack, pair.clean)]
    assert found.shape[0] == len(sides) > 1
    for row, (pair, side) in enumerate(sides):
        ids = torch.tensor([[*pair.prompt.tokens, *side]])
        with quarantine.knob(False):
            logits = quarantine.model(input_ids=ids).logits.log_softmax(-1)
        wanted = logits[0, :-1].gather(1, ids[0, 1:, None]).squeeze(1)[-len(side) :]
        torch.testing.assert_close(found[row, : len(side)], wanted, rtol=1e-5, atol=1e-5)
        assert not found[row, len(side) :].any()


def test_logits_are_made_of_completions_whatever_the_prompts(monkeypatch: Any) -> None:
    quarantine, pairs = llama(), mixed(8)
    made_of: list[tuple[int, int]] = []
    quarantine.model.lm_head.register_forward_hook(  # type: ignore[union-attr]
        lambda _, given, out: made_of.append((out.shape[0], out.shape[1]))
    )
    plain = extract(PairScorer(quarantine), pairs, pad=0)
    monkeypatch.setattr(directions, "_LOGITS_PER_PASS", 20 * VOCAB)
    made_of.clear()
    parts = extract(PairScorer(quarantine), pairs, pad=0)
    assert len(made_of) > 1
    assert all(rows * places <= 20 for rows, places in made_of)
    torch.testing.assert_close(whole(parts), whole(plain), rtol=1e-4, atol=1e-5)


def test_cosines_stand_in_the_order_of_the_pairs() -> None:
    quarantine, pairs = llama(), mixed()
    one, other = (
        extract(PairScorer(quarantine), rows, pad=0) for rows in (pairs, pairs[3:] + pairs[:3])
    )
    torch.testing.assert_close(
        one.pair_cosines_hack, other.pair_cosines_hack.roll(3), rtol=1e-4, atol=1e-6
    )
    torch.testing.assert_close(
        one.module_cosines_clean, other.module_cosines_clean.roll(3, 0), rtol=1e-4, atol=1e-6
    )
    assert one.accuracy == other.accuracy


@pytest.mark.parametrize(("kept", "passes"), [(1 << 28, 3), (0, 5)])
def test_each_pass_is_a_line_of_the_log_and_is_made_once_where_there_is_room(
    kept: int, passes: int, monkeypatch: Any, caplog: Any
) -> None:
    scorer, pairs = PairScorer(made()), encode_pairs(PAIRS, None)
    wanted = extract(scorer, pairs, pad=0)
    monkeypatch.setattr(directions, "_KEPT", kept)
    scorer.tokens_per_pass = 12
    with caplog.at_level(logging.INFO, logger="unhack.routing"):
        found = extract(scorer, pairs, pad=0, quarantine=False)
    assert len(caplog.messages) == passes
    assert caplog.messages[1].startswith(
        "direction with the quarantine off: pass 2 over pairs (of 3"
    )
    torch.testing.assert_close(whole(found), whole(wanted))
