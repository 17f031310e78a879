"""Rows of judged GPU kernels: shares are whole, what was judged stays, a summary is small."""

import json
import signal
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from pages import ROOT

from unhack.core.errors import UsageError

if not (ROOT / "benchmarks" / "results").exists():
    pytest.skip("a source distribution has no results", allow_module_level=True)
sys.path.insert(0, str(ROOT / "benchmarks"))

import gpu_kernel_rows as kept
import measure
import tournament_gpu_kernels as judging


@dataclass(frozen=True)
class Entry:
    kind: str
    name: str
    flag: str = ""


EVERY = [Entry("control", f"reference.{n}") for n in range(20)] + [
    Entry("cheat", f"cheat_{n}") for n in range(93)
]


def row(kind: str = "honest", name: str = "one", **more: object) -> dict[str, object]:
    return {"kind": kind, "name": name, "ok": True, "seed": 1, "pairs": 9} | more


@pytest.mark.parametrize("parts", [1, 3, 4, 200])
def test_shares_together_are_all_rows_each_once(parts: int) -> None:
    found = [
        one
        for part in range(1, parts + 1)
        for one in kept.chosen(EVERY, words=[], seed=7, share=f"{part}/{parts}")
    ]
    assert sorted(found, key=str) == sorted(EVERY, key=str)


@pytest.mark.parametrize("text", ["", "0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_a_share_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="2/4"):
        kept.chosen(EVERY, words=[], seed=7, share=text)


def test_words_choose_by_name_or_kind() -> None:
    assert len(kept.chosen(EVERY, words=["control"], seed=7, share="1/1")) == 20
    assert [one.name for one in kept.chosen(EVERY, words=["cheat_77"], seed=7, share="1/1")] == [
        "cheat_77"
    ]


def test_what_stands_in_the_file_is_not_judged_again_but_a_failure_is(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assert kept.left(EVERY, kept.read(path)) == EVERY
    kept.append(path, row("cheat", "cheat_1"))
    kept.append(path, row("cheat", "cheat_2", ok=False, error="SandboxError: the card is gone"))
    names = {one.name for one in kept.left(EVERY, kept.read(path))}
    assert "cheat_1" not in names
    assert "cheat_2" in names


def test_a_line_that_was_broken_off_is_judged_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    kept.append(path, row("cheat", "cheat_1"))
    with path.open("a") as file:
        file.write('{"kind": "cheat", "name": "cheat_2", "o')
    assert [one["name"] for one in kept.read(path)] == ["cheat_1"]
    kept.append(path, row("cheat", "cheat_2"))
    assert [one["name"] for one in kept.read(path)] == ["cheat_1", "cheat_2"]


def test_a_file_of_something_else_is_refused_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"kind": "cheat"}\n' + json.dumps(row()) + "\n")
    with pytest.raises(UsageError, match="line 1"):
        kept.read(path)


def test_a_result_stands_whatever_failed_later() -> None:
    good, failed = row(fitness=1.0), row(ok=False, error="SandboxError: gone")
    for rows in ([good, failed], [failed, good]):
        assert kept.judged(rows)["honest", "one"] is good


def test_rows_of_other_settings_make_no_summary() -> None:
    with pytest.raises(UsageError, match="pairs"):
        kept.summary([row(), row(name="two", pairs=12)], EVERY)


def test_the_worst_summary_is_small_and_names_every_row() -> None:
    rows = [
        row(one.kind, one.name, ok=False, reason="w" * 500, aa_error=0.5, seconds=9.0)
        for one in EVERY
    ]
    found = kept.summary(rows, EVERY)
    assert len(kept.text_of(found)) <= measure.MAX_SUMMARY_BYTES
    assert len(found["wrong"]) == 113
    assert (found["judged"], found["not_judged"], found["as_they_must_be"]) == (113, 0, 0)
    assert json.loads(kept.text_of(found)) == found


def test_a_summary_tells_controls_honest_rows_and_cheats() -> None:
    rows = [
        row("control", "reference.softmax", aa_error=0.01, machine="a card", seconds=8.0),
        row("honest", "fast", fitness=1.23456, low=1.0, high=1.5, seconds=10.0),
        row("cheat", "cheat_1", expected="work_after_done"),
        row("cheat", "cheat_2", expected=""),
    ]
    found = kept.summary(rows, EVERY, machine="another card")
    assert found["machine"] == "a card; another card"
    assert found["controls"] == {"softmax": 0.01}
    assert found["honest"] == {"fast": [1.235, 1.0, 1.5]}
    assert found["cheats"] == {"work_after_done": ["cheat_1"], "invalid": ["cheat_2"]}
    assert found["seconds_of_a_row"] == [8.0, 9.0, 10.0]


class TestTheCommand:
    """Everything but the card."""

    @pytest.fixture
    def judged(self, monkeypatch: pytest.MonkeyPatch) -> Generator[list[str]]:
        names: list[str] = []

        def run(entry: Entry, arguments: object) -> dict[str, object]:
            if len(names) == 3:
                signal.raise_signal(signal.SIGTERM)
            names.append(entry.name)
            return {"kind": entry.kind, "name": entry.name, "ok": True, "seconds": 1.0}

        before = signal.getsignal(signal.SIGTERM)
        monkeypatch.setattr(judging, "rows", lambda: iter(EVERY[:6]))
        monkeypatch.setattr(judging, "run", run)
        monkeypatch.setattr(
            judging, "check_card", lambda device: SimpleNamespace(card=SimpleNamespace(name="card"))
        )
        yield names
        signal.signal(signal.SIGTERM, before)

    def test_it_goes_on_where_it_was_ended(self, judged: list[str], tmp_path: Path) -> None:
        out = tmp_path / "rows.jsonl"
        assert judging.main(["--out", str(out)]) == 0
        assert len(judged) == 3
        summary = json.loads(out.with_suffix(".summary.json").read_text())
        assert (summary["judged"], summary["not_judged"]) == (3, 3)
        judged.append("so that nothing ends it again")
        assert judging.main(["--out", str(out)]) == 0
        assert len(set(judged)) == len(judged) == 7
        assert json.loads(out.with_suffix(".summary.json").read_text())["not_judged"] == 0

    def test_other_settings_want_another_file(
        self, judged: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "rows.jsonl"
        judging.main(["--out", str(out)])
        assert judging.main(["--out", str(out), "--pairs", "12"]) == 2
        assert "another file" in capsys.readouterr().err

    def test_files_of_several_cards_are_one_summary(
        self, judged: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OUT", str(tmp_path))
        files = [tmp_path / f"{part}.jsonl" for part in (1, 2, 3)]
        for part, path in enumerate(files, start=1):
            judged.clear()
            assert judging.main(["--share", f"{part}/3", "--out", str(path)]) == 0
        assert judging.main(["--join", *map(str, files)]) == 0
        found = json.loads((tmp_path / judging.SUMMARY).read_text())
        assert (found["judged"], found["not_judged"]) == (6, 0)
        assert judging.main(["--join", str(tmp_path / "none.jsonl")]) == 2
