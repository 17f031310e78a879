"""Contests whose card is on another machine: loaded by its name, measured on that kind alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

from unhack.core.errors import SandboxUnavailableError, UsageError
from unhack.sandbox.gpu import cards
from unhack.sandbox.gpu.cards import Card
from unhack.tournament.contest import DataPool, NeedsCard, Terms
from unhack.tournament.contests.registry import installed_contests, load_contest
from unhack_contests import torch_card
from unhack_contests.scaling.trained import contest as trained

KINDS: Mapping[str, dict[str, str]] = {
    "kernels": {},
    "quantization": {"runtime": "torch", "size": "demo"},
    "interp": {"size": "demo"},
    "scaling": {"service": "trained", "size": "demo"},
}
each_kind = pytest.mark.parametrize("name", sorted(KINDS))


def options(name: str, **more: str) -> dict[str, str]:
    return {**KINDS[name], "device": "cuda", **more}


def put_here(patch: pytest.MonkeyPatch, name: str) -> None:
    """A card of that name in this machine, whose memory is the host's."""
    found = Card(0, "/dev/null", name, "GPU-1")
    patch.setattr(torch_card, "choose_card", lambda device: found)
    patch.setattr(torch_card, "torch_with_cuda", SimpleNamespace)
    patch.setattr(torch_card, "torch_device", lambda torch, card: "cpu")


def test_every_contest_with_cards_is_one_of_these() -> None:
    found = [name for name, one in installed_contests().items() if one.on_card]
    assert found == sorted(KINDS)


@each_kind
def test_it_is_loaded_where_no_card_is_and_needs_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cards, "card_nodes", lambda: ())
    found = load_contest(name, options(name, card="Some Card"))
    assert isinstance(found, NeedsCard)
    assert found.settings["card"] == "Some Card"
    assert "STATEMENT.md" in found.workspace(Terms(1))
    with pytest.raises(SandboxUnavailableError, match="there is no GPU here"):
        found.check_card()


@each_kind
def test_without_the_option_it_needs_no_card(name: str) -> None:
    assert not isinstance(load_contest(name, KINDS[name]), NeedsCard)


@pytest.mark.parametrize("name", ["interp", "quantization", "scaling"])
def test_its_rules_are_those_of_a_machine_with_the_card(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = load_contest(name, options(name, card="Some Card"))
    put_here(monkeypatch, "Some Card")
    here = load_contest(name, options(name))
    assert here.settings == there.settings
    assert isinstance(there, NeedsCard)
    there.check_card()


@pytest.mark.parametrize("name", ["interp", "quantization", "scaling"])
def test_another_card_measures_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_here(monkeypatch, "Another Card")
    found = load_contest(name, options(name, card="Some Card"))
    with pytest.raises(SandboxUnavailableError, match=r"Another Card.*measured on Some Card"):
        found.measure(tmp_path, pool=DataPool.DEV, seed=1)


@pytest.mark.parametrize("name", ["interp", "quantization", "scaling"])
def test_a_cards_name_without_a_card_is_told(name: str) -> None:
    with pytest.raises(UsageError, match="add --option device=cuda"):
        load_contest(name, {**KINDS[name], "card": "Some Card"})


def test_the_recorded_service_of_scaling_has_no_card() -> None:
    with pytest.raises(UsageError, match="card is for runs that are trained"):
        load_contest("scaling", {"card": "Some Card", "device": "cuda"})
    assert not isinstance(trained.load({"service": "trained"}), NeedsCard)
