"""A folder in KernelBench's form as the problems of a contest, from its option to its verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from unhack.core.errors import SandboxUnavailableError, UnknownNameError, UsageError
from unhack.sandbox.gpu.card_queue import CardQueue
from unhack.tournament.contest import DataPool, Terms
from unhack.tournament.contests.registry import load_contest
from unhack_contests.kernels.gpu import measure, settings
from unhack_contests.kernels.gpu.contest import GpuKernels

from .conftest import RULES, SETTING

LINEAR = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.layer = nn.Linear(inner, outer)

    def forward(self, x, shift):
        return torch.relu(self.layer(x)) + shift


batch_size = 12


def get_inputs():
    return [torch.randn(batch_size, 48), torch.randn(40)]


def get_init_inputs():
    return [48, 40]
"""


def folder_of(place: Path, *texts: str) -> Path:
    """`level1` with a file for each text."""
    (place / "level1").mkdir(parents=True)
    for number, text in enumerate(texts, 1):
        (place / "level1" / f"{number}_Thing.py").write_text(text)
    return place


def parsed(place: Path, **more: str) -> settings.GpuOptions:
    return settings.parse({"device": "cuda", "kernelbench": str(place), **more})


@pytest.fixture
def on_a_card(on_the_host: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Host memory in the place of the card's, a queue in the test's own folder."""
    for name in ("setting_of", "check_card"):
        monkeypatch.setattr(measure, name, lambda device: SETTING)
        monkeypatch.setattr(f"{GpuKernels.__module__}.{name}", lambda device: SETTING)
    monkeypatch.setattr(measure, "torch_with_cuda", lambda: torch)
    monkeypatch.setattr(measure, "roofline_of", lambda device: RULES.roofline)
    monkeypatch.setattr(measure, "CardQueue", lambda key: CardQueue(key, root=tmp_path))
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)


class TestTheOption:
    def test_all_files_are_played_unless_some_are_named(self, tmp_path: Path) -> None:
        place = folder_of(tmp_path / "kb", LINEAR, LINEAR)
        assert parsed(place).problems == ("1_Thing", "2_Thing")
        assert parsed(place, problem="2_Thing").problems == ("2_Thing",)
        assert list(parsed(place, problem="2_Thing").given) == ["2_Thing"]

    def test_another_name_is_told_with_those_of_the_folder(self, tmp_path: Path) -> None:
        with pytest.raises(UnknownNameError, match="1_Thing"):
            parsed(folder_of(tmp_path / "kb", LINEAR), problem="softmax")

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ("class Model", "class Modell", "no class Model"),
            ("def forward", "def forwards", "no forward"),
            ("def get_inputs", "def inputs", "no function get_inputs"),
        ],
    )
    def test_a_file_that_lacks_something_is_told_before_a_card_is_looked_for(
        self, tmp_path: Path, old: str, new: str, words: str
    ) -> None:
        place = folder_of(tmp_path / "kb", LINEAR.replace(old, new))
        with pytest.raises(UsageError, match=words):
            load_contest("kernels", {"device": "cuda", "kernelbench": str(place)})

    def test_an_empty_folder_is_told_with_what_was_expected(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"level1/NAME\.py"):
            parsed(folder_of(tmp_path / "kb"))

    def test_on_processors_the_missing_option_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="device=cuda"):
            load_contest("kernels", {"kernelbench": str(tmp_path)})


class TestTheContest:
    @pytest.fixture
    def contest(self, tmp_path: Path) -> GpuKernels:
        place = folder_of(tmp_path / "kb", LINEAR)
        options = {"device": "cuda", "kernelbench": str(place), "card": SETTING.card.name}
        found = load_contest("kernels", {**options, "pairs": "3"})
        assert isinstance(found, GpuKernels)  # it is loaded without a card
        return found

    def test_agents_start_from_the_file_and_are_told_what_is_asked(
        self, contest: GpuKernels
    ) -> None:
        files = contest.workspace(Terms(1))
        assert files["1_Thing.py"] == LINEAR.encode()
        assert "## `1_Thing`, level 1" in files["STATEMENT.md"].decode()
        assert "`forward(self, x, shift)`" in files["STATEMENT.md"].decode()

    def test_its_rules_follow_the_text_of_the_files(
        self, contest: GpuKernels, tmp_path: Path
    ) -> None:
        place = folder_of(tmp_path / "other", LINEAR.replace("relu", "tanh"))
        other = GpuKernels(parsed(place, pairs="3"), contest.card)
        assert other.settings["reference"] != contest.settings["reference"]

    def test_there_are_no_cheats_and_one_honest_strategy(self, contest: GpuKernels) -> None:
        assert contest.submissions.cheats() == {}
        assert list(contest.submissions.honest()) == ["reference"]

    @pytest.mark.slow
    @pytest.mark.usefixtures("on_a_card")
    def test_a_file_that_fails_when_it_runs_is_told_before_a_round(self, tmp_path: Path) -> None:
        broken = LINEAR.replace("return [48, 40]", "return [47, 40]")
        contest = GpuKernels(parsed(folder_of(tmp_path / "kb2", broken)), SETTING.card.name)
        with pytest.raises(UsageError, match=r"1_Thing\.py fails"):
            contest.check_card()

    @pytest.mark.slow
    @pytest.mark.usefixtures("on_a_card")
    def test_another_card_is_refused_by_both_names(self, contest: GpuKernels) -> None:
        contest.check_card()
        contest.card = "another"
        with pytest.raises(SandboxUnavailableError, match=r"host memory.*another"):
            contest.check_card()
        with pytest.raises(SandboxUnavailableError, match=r"host memory.*another"):
            contest.measure(Path(), pool=DataPool.DEV, seed=1)

    @pytest.mark.slow
    @pytest.mark.usefixtures("on_a_card")
    def test_the_reference_is_right_and_nothing_is_not(
        self, contest: GpuKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            measure, "GpuRules",
            lambda pairs, roofline, given: RULES.__class__(pairs, roofline, 1 << 12, given),
        )  # fmt: skip
        found = {}
        for name, files in (
            ("reference", contest.submissions.identity()),
            ("null", contest.submissions.null()),
        ):
            folder = tmp_path / name
            folder.mkdir()
            for path, text in files.items():
                (folder / path).write_bytes(text)
            found[name] = contest.measure(folder, pool=DataPool.JUDGE, seed=3)
        assert found["reference"].valid, found["reference"].reason
        groups: set[Any] = {n for n in found["reference"].metrics if n.startswith("ms.")}
        assert groups == {"ms.1_Thing", "ms.1_Thing.hidden"}
        assert not found["null"].valid
