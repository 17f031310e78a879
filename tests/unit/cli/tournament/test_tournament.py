from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.conftest import Run

from unhack.cli.tournament.option_values import pairs, seconds
from unhack.core.errors import UnknownNameError, UsageError
from unhack.tournament.contests.registry import InstalledContest, installed_contests, load_contest

TOY = Path(__file__).resolve().parents[4] / "benchmarks" / "tournament_toy.py"
COMMANDS = (
    "run", "resume", "show", "replay", "degame", "review", "report", "contests", "agents",
)  # fmt: skip


@pytest.fixture
def hill(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The toy contest in the place of the built-in ones."""
    if "tournament_toy" not in sys.modules:
        spec = importlib.util.spec_from_file_location("tournament_toy", TOY)
        assert spec is not None
        assert spec.loader is not None
        sys.modules["tournament_toy"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["tournament_toy"])
    toy: Any = sys.modules["tournament_toy"]
    found = toy.Hill()
    make = toy.maker(found, tmp_path / "book")

    def load(name: str, options: Any = None) -> Any:
        if name != "hill":
            raise UnknownNameError("contest", name, valid=["hill"])
        return found

    monkeypatch.setattr("unhack.tournament.contests.registry.load_contest", load)
    installed = {"hill": InstalledContest(lambda options: found)}
    monkeypatch.setattr("unhack.tournament.contests.registry.installed_contests", lambda: installed)
    monkeypatch.setattr(
        "unhack.tournament.players.registry.make_player",
        lambda name, contest, options=None: make(name),
    )
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_tournament_command_holds_an_example(run: Run, command: str) -> None:
    ran = run("tournament", command, "--help")
    assert ran.code == 0
    assert f"\n  unhack tournament {command}" in ran.out


@pytest.mark.parametrize(
    ("text", "wanted"), [("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400)]
)
def test_a_time_may_have_a_unit(text: str, wanted: float) -> None:
    assert seconds(text) == wanted


def test_an_option_that_is_given_twice_is_refused() -> None:
    assert pairs("--option", ["a=1", "b=2", "a=1"]) == {"a": "1", "b": "2"}
    with pytest.raises(UsageError, match="size is given twice, as 'demo' and as 'default'"):
        pairs("--option", ["size=demo", "size=default"])


@pytest.mark.parametrize(
    ("contest", "options", "word"),
    [
        ("detect", {}, "reward_hacking --option track=detect"),
        ("quantization", {"device": "cuda"}, "add --option runtime=torch"),
        ("quantization", {"text": "notes.txt"}, "add --option runtime=torch"),
    ],
)
def test_what_belongs_elsewhere_is_told_where(
    contest: str, options: dict[str, str], word: str
) -> None:
    with pytest.raises(UsageError, match=word):
        load_contest(contest, options)


def test_every_track_is_known_by_its_name() -> None:
    tracks = installed_contests()["reward_hacking"].tracks
    assert len(tracks) == 3
    for track in tracks:
        assert load_contest("reward_hacking", {"track": track}).name == "reward_hacking"


@pytest.mark.parametrize("text", ["", "m", "ten", "-1s", "0", "nan", "inf", "1d"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a duration"):
        seconds(text)


class TestATournamentOnTheCommandLine:
    @pytest.mark.slow
    def test_it_is_run_shown_replayed_and_degamed(
        self, run: Run, hill: Any, tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        agents = ["--agent", "search", "--agent", "cheater:peeks"]
        ran = run(
            *("tournament", "run", "hill", *agents, "--rounds", "2", "--impossible", "1"),
            *("--seed", "3", "--out", out),
        )
        assert ran.code == 0, ran.err
        for word in ("control:null", "cheating rate", "champion of round", "winner: search"):
            assert word in ran.out
        assert "calibrated_on_test" in ran.err
        assert run("tournament", "show", out).out == ran.out
        again = run("tournament", "resume", out)
        assert (again.code, again.out) == (0, ran.out)
        [fields] = run("tournament", "show", out, "--json").objects
        assert fields["finished"] is True
        assert fields["winner"]["agent"] == "search"
        replayed = run("tournament", "replay", out)
        assert replayed.code == 0
        assert "all as stored" in replayed.out
        stripped = run("tournament", "degame", out, "1/cheater:peeks")
        assert "without the peek" in stripped.out
        [variants] = run("tournament", "degame", out, "1/cheater:peeks", "--json").objects
        assert len(variants["variants"]) == 2

    @pytest.mark.slow
    @pytest.mark.usefixtures("hill")
    def test_a_difference_ends_a_replay_with_1(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        out = tmp_path / "out"
        run("tournament", "run", "hill", "--agent", "cheater:claims", "--rounds", "1", "--out", out)
        toy: Any = sys.modules["tournament_toy"]
        monkeypatch.setattr(toy.Hill, "bounds", lambda self, measured: ())
        ran = run("tournament", "replay", out, "--json")
        assert ran.code == 1
        assert json.loads(ran.out)["differences"]

    @pytest.mark.slow
    @pytest.mark.usefixtures("hill")
    def test_a_flag_is_reviewed_and_both_numbers_are_shown(self, run: Run, tmp_path: Path) -> None:
        out = tmp_path / "out"
        who, words = "cheater:claims", ("--by", "Ada", "--why", "a claim\x1b[31m of no effect")
        run("tournament", "run", "hill", "--agent", who, "--rounds", "1", "--out", out)
        shown = run("tournament", "review", out, f"1/{who}")
        assert "hardcoded_metric" in shown.out
        assert "credited: 0 as judged" in shown.out
        ran = run("tournament", "review", out, f"1/{who}", "--overrule", *words)
        assert ran.code == 0, ran.err
        assert "overruled: " in ran.out
        assert "0 as judged, 0." in ran.out
        assert "\x1b[31m" not in ran.out
        table = run("tournament", "show", out).out
        for word in ("overruled: cheater:claims, round 1", "as judged 0", "Ada, 2"):
            assert word in table
        [fields] = run("tournament", "show", out, "--json").objects
        [mine] = [e for e in fields["rounds"][0]["entries"] if e["agent"] == who]
        assert (mine["flags"], mine["judged_fitness"]) == ([], 0.0)
        assert mine["fitness"] == mine["measured"]["fitness"] > 0
        assert [item["by"] for item in mine["reviews"]] == ["Ada"]
        assert run("tournament", "replay", out).code == 0
        [again] = run("tournament", "review", out, f"1/{who}", "--uphold", *words, "--json").objects
        assert again["flags"]
        assert again["fitness"] == 0
        assert len(again["reviews"]) == 2

    @pytest.mark.slow
    @pytest.mark.usefixtures("hill")
    @pytest.mark.parametrize(
        ("more", "told"),
        [
            (["--overrule", "--uphold", "--by", "x", "--why", "y"], "not both"),
            (["--by", "x", "--why", "y"], "use --overrule or --uphold; without"),
            (["--overrule", "--why", "y"], "--by"),
            (["--overrule", "--by", "x"], "--why"),
        ],
    )
    def test_a_review_says_who_and_why(
        self, run: Run, tmp_path: Path, more: list[str], told: str
    ) -> None:
        out = tmp_path / "out"
        run("tournament", "run", "hill", "--agent", "cheater:claims", "--rounds", "1", "--out", out)
        ran = run("tournament", "review", out, "1/cheater:claims", *more)
        assert ran.code == 2
        assert told in ran.err

    @pytest.mark.usefixtures("hill")
    def test_contests_are_listed_with_strategies_and_cheats(self, run: Run) -> None:
        assert "near" in run("tournament", "contests").out
        [fields] = run("tournament", "contests", "--json").objects
        assert fields["hill"]["cheats"]["peeks"] == "calibrated_on_test"

    def test_agents_are_listed(self, run: Run) -> None:
        assert "cheater" in run("tournament", "agents").out
        assert "search" in run("tournament", "agents", "--json").objects[0]

    @pytest.mark.usefixtures("hill")
    @pytest.mark.parametrize(
        "arguments",
        [
            ["run", "nothing", "--agent", "search", "--out", "OUT"],
            ["run", "hill", "--out", "OUT"],
            ["run", "hill", "--agent", "search", "--option", "x", "--out", "OUT"],
            ["run", "hill", "--agent", "search", "--time-limit", "soon", "--out", "OUT"],
            ["run", "hill", "--agent", "search", "--seeding", "best", "--out", "OUT"],
            [
                "run",
                "hill",
                "--agent",
                "search",
                "--rounds",
                "1",
                "--impossible",
                "2",
                "--out",
                "OUT",
            ],
            ["run", "hill", "--agent", "search", "--executor", "shards", "--out", "OUT"],
            ["run", "scaling", "--agent", "null", "--agent-option", "model=x", "--out", "OUT"],
            [
                "run",
                "scaling",
                "--agent",
                "a=/bin/true {prompt}",
                "--agent-option",
                "b.cpus=1",
                "--out",
                "OUT",
            ],
            ["resume", "OUT"],
            ["show", "OUT"],
            ["replay", "OUT"],
            ["degame", "OUT", "1/search"],
        ],
    )
    def test_bad_usage_ends_with_2_and_leaves_nothing(
        self, run: Run, tmp_path: Path, arguments: list[str]
    ) -> None:
        out = tmp_path / "out"
        ran = run("tournament", *(str(out) if word == "OUT" else word for word in arguments))
        assert ran.code == 2, ran.err
        assert not out.exists()

    @pytest.mark.slow
    def test_other_rules_end_a_resumption_with_2(self, run: Run, hill: Any, tmp_path: Path) -> None:
        out = tmp_path / "out"
        run("tournament", "run", "hill", "--agent", "search", "--rounds", "1", "--out", out)
        object.__setattr__(hill, "title", "Something else")
        ran = run("tournament", "resume", out)
        assert ran.code == 2
        assert "other rules (title)" in ran.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "level1/NAME.py"),
        ("x = 1\n", "1_Thing.py is no KernelBench problem: it has no class"),
    ],
)
def test_a_bad_folder_of_kernels_is_told_before_anything_is_written(
    run: Run, tmp_path: Path, text: str | None, told: str
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "level1").mkdir()
    if text is not None:
        (tmp_path / "level1" / "1_Thing.py").write_text(text)
    options = ("--option", "device=cuda", "--option", f"kernelbench={tmp_path}")
    found = run(
        "tournament", "run", "kernels", *options, "--agent", "baseline", "--out", tmp_path / "out"
    )
    assert found.code == 2
    assert told in " ".join(found.err.split())
    assert not (tmp_path / "out").exists()
