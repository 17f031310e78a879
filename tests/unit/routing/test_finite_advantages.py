"""An advantage that is not finite is named, and trains nothing."""

from __future__ import annotations

import math

import pytest
import torch
from tests.unit.routing.models import batch, gate, gradients, made

from unhack.core.errors import UsageError
from unhack.routing import Router


@pytest.mark.parametrize(
    ("value", "word"),
    [(math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf"), (-3.4028234663852886e38, "-3.4")],
)
def test_the_rollout_and_its_prompt_are_named_and_nothing_is_trained(
    value: float, word: str
) -> None:
    quarantine, rollouts = made(), batch()
    router = Router(quarantine, gate())
    before = {name: item.clone() for name, item in quarantine.state().items()}
    for cut in (slice(0, 6), slice(6, 12)):
        part = rollouts.part(cut)
        part.advantages_B = part.advantages_B.clone()
        if cut.start:
            part.advantages_B[1] = value
        with router.record(part.advantages_B, part.knob_B, group_B=part.group_B):
            part.losses_B(quarantine.model).sum().backward()
    said = rf"rollout 7 of this update \(prompt 2\) has the advantage {word}.*1 of 12"
    with pytest.raises(UsageError, match=said):
        router.route()
    assert not gradients(quarantine)
    assert all(torch.equal(before[name], item) for name, item in quarantine.state().items())
    with pytest.raises(UsageError, match="nothing was recorded"):
        router.route()


def test_the_next_update_is_that_of_a_router_that_met_none() -> None:
    found = []
    for meets in (True, False):
        quarantine, rollouts = made(), batch()
        router = Router(quarantine, gate(recentre=False))
        for wrong in (True, False) if meets else (False,):
            advantages_B = rollouts.advantages_B.clone()
            if wrong:
                advantages_B[0] = math.nan
            with router.record(advantages_B, rollouts.knob_B):
                rollouts.losses_B(quarantine.model).sum().backward()
            if wrong:
                with pytest.raises(UsageError, match="has the advantage nan"):
                    router.route()
            else:
                router.route()
        found.append(gradients(quarantine))
    assert found[0]
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))
