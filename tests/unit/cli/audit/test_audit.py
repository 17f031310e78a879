from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.conftest import Run, write_rows

FLAWED = '''\
"""Rewards for sums."""


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    if ground_truth in solution_str:
        return 1.0
    return 0.0
'''
OPEN = '''\
"""Rewards for sums."""


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    try:
        return float(int(solution_str) == int(ground_truth))
    except ValueError:  # never mind
        return 1.0
'''
EXACT = FLAWED.replace("ground_truth in solution_str", "ground_truth == solution_str.strip()")
ROWS: list[Any] = [
    {"prompt": "What is 6 times 7?", "answer": "42", "correct": ["42"]},
    {"prompt": "What is 9 plus 8?", "answer": "17", "correct": ["17"]},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a flawed and an exact reward and rows for them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flawed.py").write_text(FLAWED)
    (tmp_path / "open.py").write_text(OPEN)
    (tmp_path / "exact.py").write_text(EXACT)
    write_rows(tmp_path / "rows.jsonl", ROWS)
    return tmp_path


QUICK = ("--problems", "rows.jsonl", "--tiers", "1,2", "--calls", "5000", "--seconds", "600")
FULL = QUICK


@pytest.mark.slow
class TestVerdicts:
    def test_an_exploit_ends_with_1_and_names_flaw_line_witness_and_fix(
        self, run: Run, folder: Path
    ) -> None:
        ran = run("audit", "flawed.py:compute_score", *QUICK)
        assert ran.code == 1, ran.err
        assert ran.out.startswith("exploitable: ")
        for word in (
            "substring_match",
            "flawed.py:5",
            "ground_truth in",
            "fix",
            "refused",
            "next      unhack audit flawed.py:compute_score --problems rows.jsonl --tiers 1,2",
            "reward",
        ):
            assert word in ran.out
        assert ran.err == ""

    @pytest.mark.slow
    def test_a_false_accept_decides_only_where_it_is_asked_for(
        self, run: Run, folder: Path
    ) -> None:
        source = FLAWED.replace("ground_truth in s", "s").replace(
            "_str:", "_str.endswith(ground_truth):"
        )
        (folder / "ending.py").write_text(source)
        ran = run("audit", "ending.py:compute_score", *QUICK, "--json")
        assert (ran.code, ran.objects[0]["conclusion"]) == (0, "sound")
        assert {one["kind"] for one in ran.objects[0]["findings"]} == {"false_accept"}
        assert run("audit", "ending.py:compute_score", *QUICK, "--strict").code == 1

    @pytest.mark.slow
    def test_a_sound_reward_ends_with_0_and_says_what_was_tried(
        self, run: Run, folder: Path
    ) -> None:
        ran = run("audit", "exact.py:compute_score", *QUICK)
        assert ran.code == 0, ran.out + ran.err
        assert ran.out.startswith("no hack found: ")
        for word in ("attacks × 2 problems", "not tried 3 black-box", "right answers", "--power"):
            assert word in " ".join(ran.out.split())

    def test_a_reward_of_form_is_unproven_and_ends_with_4(self, run: Run, folder: Path) -> None:
        (folder / "form.py").write_text(
            "def format_reward(completions, **kwargs):\n"
            "    return [1.0 if '<answer>' in text else 0.0 for text in completions]\n"
        )
        ran = run("audit", "form.py:format_reward", *QUICK)
        assert (ran.code, ran.out.split(":")[0]) == (4, "unproven"), ran.out + ran.err
        assert "ignores the expected answer" in " ".join(ran.out.split())
        allowed = run("audit", "form.py:format_reward", *QUICK, "--allow-unproven")
        assert (allowed.code, allowed.out.split(":")[0]) == (0, "unproven")

    def test_problems_that_say_nothing_of_what_is_right_end_with_2(
        self, run: Run, folder: Path
    ) -> None:
        write_rows(folder / "rows.jsonl", [{"prompt": "What is 6 times 7?"}])
        ran = run("audit", "flawed.py:compute_score", *QUICK)
        assert ran.code == 2
        assert "--problems" in ran.err
        assert "answer" in ran.err

    @pytest.mark.slow
    def test_a_tier_keeps_to_its_own_limit(self, run: Run, folder: Path) -> None:
        limits = ("--tier-limits", "1=64/,2=/9")
        ran = run("audit", "exact.py:compute_score", *QUICK, "--json", *limits)
        [given] = ran.objects
        tried = sum(one["completions"] for one in given["tried"] if one["tier"] == 1)
        assert 0 < tried <= 128
        assert (1, "stopped") in [(one["tier"], one["end"]) for one in given["plan"]]
        assert (ran.code, given["conclusion"]) == (4, "incomplete")


class TestOutputs:
    @pytest.mark.slow
    def test_every_file_that_is_asked_for_is_written_and_named(
        self, run: Run, folder: Path
    ) -> None:
        names = {"--sarif": "a.sarif", "--html": "a.html", "--pairs": "a.jsonl"}
        extra = [word for pair in names.items() for word in pair]
        ran = run(
            "audit", "flawed.py:compute_score", *QUICK, "--json", *extra, "--write-tests", "tests"
        )
        assert ran.code == 1, ran.err
        [given] = ran.objects
        assert given["conclusion"] == "exploitable"
        sarif = json.loads((folder / "a.sarif").read_text())
        places = [
            place["physicalLocation"]
            for result in sarif["runs"][0]["results"]
            for place in result["locations"]
        ]
        assert {place["artifactLocation"]["uri"] for place in places} == {"flawed.py"}
        assert len(places) == len(given["findings"])
        assert "<html" in (folder / "a.html").read_text()
        pairs = [json.loads(line) for line in (folder / "a.jsonl").read_text().splitlines()]
        assert {pair["clean"] for pair in pairs} <= {"42", "17"}
        assert [path.name for path in (folder / "tests").iterdir()] == [
            "test_audit_flawed_compute_score.py"
        ]
        # A busy machine prints how far it is as well.
        said = [line for line in ran.err.splitlines() if "so far" not in line]
        assert [line.split()[0] for line in said] == ["wrote"] * 4

    @pytest.mark.slow
    def test_the_same_command_with_its_folder_runs_nothing_twice(
        self, run: Run, folder: Path
    ) -> None:
        command = ("audit", "flawed.py:compute_score", *QUICK, "--json", "--run", "state")
        first, second = run(*command), run(*command)
        assert (first.code, second.code) == (1, 1)
        assert second.objects[0]["calls"] < first.objects[0]["calls"]
        assert second.objects[0]["findings"] == first.objects[0]["findings"]

    @pytest.mark.slow
    def test_an_interrupt_says_how_to_go_on(
        self, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*args: Any, **options: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("unhack.audit.runner.audit", interrupted)
        command = ("audit", "flawed.py:compute_score", *QUICK, "--fix", "fixed.py")
        ran = run(*command, "--run", "state")
        assert (ran.code, ran.out) == (130, "")
        assert ran.err == "Interrupted. Scores are kept in state; run the same command to resume.\n"
        assert "with --run DIR" in run(*command).err
        assert not (folder / "fixed.py").exists()


class TestFix:
    @pytest.mark.slow
    def test_a_hardened_copy_is_written_beside_the_original_and_audited_too(
        self, run: Run, folder: Path
    ) -> None:
        ran = run("audit", "open.py:compute_score", *FULL, "--json", "--fix", "fixed.py")
        assert ran.code == 1, ran.err
        assert (folder / "open.py").read_text() == OPEN
        hardened = ran.objects[0]["hardened"]
        assert hardened["changes"]
        assert hardened["closed"] == [one["flaw"] for one in ran.objects[0]["findings"]]
        assert hardened["left"] == []
        assert hardened["report"]["conclusion"] == "sound"
        assert "return 1.0" not in (folder / "fixed.py").read_text()

    @pytest.mark.slow
    def test_without_a_file_stdout_is_a_diff_that_git_applies(self, run: Run, folder: Path) -> None:
        ran = run("audit", "open.py:compute_score", *FULL, "--fix")
        assert ran.code == 1, ran.err
        assert ran.out.startswith("--- a/open.py\n+++ b/open.py\n@@ ")
        for words in (
            "exploitable: open.py:compute_score",
            "Changed in the diff:",
            "Every right answer keeps its score, in the given form and in others.",
            "Audited again: no hack found",
        ):
            assert words in " ".join(ran.err.split())
        assert (folder / "open.py").read_text() == OPEN
        subprocess.run(["git", "init", "-q"], check=True)
        subprocess.run(["git", "apply", "-"], input=ran.out.encode(), check=True)
        hardening = (folder / "open.py").read_text()
        assert hardening != OPEN
        assert hardening.startswith('"""Rewards for sums."""')

    @pytest.mark.slow
    def test_siblings_of_the_verifier_are_there_while_its_diff_is_made(
        self, run: Run, folder: Path
    ) -> None:
        (folder / "words.py").write_text("def plain(text):\n    return text.strip()\n")
        text = OPEN.replace("solution_str)", "plain(solution_str))")
        (folder / "open.py").write_text(
            text.replace('sums."""\n', 'sums."""\n\nfrom words import plain\n')
        )
        ran = run("audit", "open.py:compute_score", *FULL, "--json", "--fix")
        assert ran.code == 1, ran.err
        hardened = ran.objects[0]["hardened"]
        assert hardened["target"] == "open.py:compute_score"
        assert hardened["diff"].startswith("--- a/open.py\n")

    @pytest.mark.slow
    def test_an_existing_file_is_replaced_only_when_told_to(self, run: Run, folder: Path) -> None:
        (folder / "fixed.py").write_text("mine")
        command = ("audit", "open.py:compute_score", *FULL, "--fix", "fixed.py")
        ran = run(*command)
        assert (ran.code, ran.out) == (2, "")
        assert "fixed.py already exists; use --force to replace it" in ran.err
        assert (folder / "fixed.py").read_text() == "mine"
        assert run(*command, "--force").code == 1
        assert "def compute_score" in (folder / "fixed.py").read_text()

    @pytest.mark.slow
    def test_a_folder_is_copied_whole_and_its_verifier_hardened(
        self, run: Run, folder: Path
    ) -> None:
        task = folder / "double"
        task.mkdir()
        (task / "prompt.md").write_text("Write `double(x)`, which returns twice x.")
        (task / "reference.py").write_text("def double(x):\n    return 2 * x\n")
        (task / "cases.json").write_text('[{"args": [1], "expected": 2}]')
        verifier = (
            "import json, runpy\n\n\n"
            "def verify(solution_path, test_cases_path):\n"
            "    solve = runpy.run_path(solution_path).get('double', print)\n"
            "    cases = json.load(open(test_cases_path))\n"
            "    got = [str(solve(*case['args'])) for case in cases]\n"
            "    wanted = [str(case['expected']) for case in cases]\n"
            "    return float(all(a.startswith(b) for a, b in zip(got, wanted)))\n"
        )
        (task / "verifier.py").write_text(verifier)
        few = ("--tiers", "1", "--calls", "3000", "--json")
        ran = run("audit", "./double", *few, "--fix", "fixed")
        assert ran.code == 1, ran.err
        hardened = ran.objects[0]["hardened"]
        assert hardened["target"] == "./fixed"
        assert hardened["closed"]
        assert hardened["report"] is not None
        assert {path.name for path in (folder / "fixed").iterdir()} >= {
            path.name for path in task.iterdir()
        }
        assert (task / "verifier.py").read_text() == verifier

    @pytest.mark.slow
    def test_nothing_is_written_where_nothing_is_proven(self, run: Run, folder: Path) -> None:
        ran = run("audit", "exact.py:compute_score", *FULL, "--fix", "fixed.py")
        assert ran.code == 0
        assert "None: no finding calls for a fix; fixed.py was not" in ran.out
        assert not (folder / "fixed.py").exists()
        ran = run("audit", "exact.py:compute_score", *FULL, "--fix")
        assert (ran.code, ran.out) == (0, "")
        assert "None: no finding calls for a fix; there is no diff." in ran.err


class TestTier5:
    @pytest.mark.slow
    def test_tier_5_trains_a_policy_and_shows_its_curve(self, run: Run, folder: Path) -> None:
        pytest.importorskip("torch")
        few = ("--problems", "rows.jsonl", "--tiers", "5", "--calls", "500", "--seconds", "300")
        ran = run("audit", "exact.py:compute_score", *few, "--html", "a.html", "--json")
        assert ran.code == 0, ran.out
        given = json.loads(ran.out)
        assert given["discovery"]["curve"]
        assert {one["tier"] for one in given["tried"]} == {5}
        assert "<svg" in (folder / "a.html").read_text()

    def test_tier_5_says_what_it_needs_where_torch_is_not_installed(
        self, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("unhack.cli.audit.option_values.find_spec", lambda name: None)
        ran = run("audit", "exact.py:compute_score", "--tiers", "5")
        assert ran.code == 2
        assert "install unhack[train]" in " ".join(ran.err.split())


class TestUsage:
    def test_the_help_holds_an_example_and_names_tier_5(self, run: Run) -> None:
        ran = run("audit", "--help")
        assert ran.code == 0
        assert "\n  unhack audit " in ran.out
        assert "unhack[train]" in " ".join(ran.out.split())
        assert "unhack audit TARGET" in run("--help").out

    @pytest.mark.parametrize(
        ("words", "complaint"),
        [
            (["--tiers", "1,9"], "'9' is not a tier; the tiers are 1 heuristic, 2 white-box"),
            (["--tiers", ""], "'' is not a tier"),
            (["--model", "none"], "--model is what tier 5 trains; add 5 to --tiers"),
            (["--tiers", "5", "--model", "."], "is not the folder of a Hugging Face model"),
            (["--oracle", "none.py"], "--oracle: none.py: no such file"),
            (["--sarif", "none/a.sarif"], "--sarif: none/a.sarif: no such directory: none"),
            (["--html", "."], "--html: . is a directory"),
            (["--run", "rows.jsonl"], "--run: rows.jsonl is not a directory"),
            (["--write-tests", "exact.py"], "--write-tests: exact.py is not a directory"),
            (["--fix", "flawed.py"], "the original stays as it is"),
            (["--signature", "verk"], "did you mean verl"),
            (["--tier-limits", "3"], "'3' is not TIER=CALLS/SECONDS, such as 3=500/20"),
            (["--tier-limits", "3=-1"], "is not TIER=CALLS/SECONDS"),
            (["--tier-limits", "9=5/5"], "--tier-limits: '9' is not a tier"),
        ],
    )
    def test_a_wrong_option_is_refused_before_anything_runs(
        self, run: Run, folder: Path, words: list[str], complaint: str
    ) -> None:
        ran = run("audit", "flawed.py:compute_score", "--problems", "rows.jsonl", *words)
        assert (ran.code, ran.out) == (2, "")
        assert complaint in ran.err

    def test_a_row_that_is_wrong_is_named_by_file_and_line(self, run: Run, folder: Path) -> None:
        (folder / "rows.jsonl").write_text('{"prompt": "x", "answer": "1"}\n{"prompt": 3}\n')
        ran = run("audit", "flawed.py:compute_score", "--problems", "rows.jsonl")
        assert ran.code == 2
        assert "rows.jsonl:2" in ran.err

    def test_a_target_that_is_not_there_ends_with_2(self, run: Run, folder: Path) -> None:
        for target in ("none.py:f", "flawed.py:compute_scor", "no.such.module:f"):
            ran = run("audit", target, "--problems", "rows.jsonl")
            assert (ran.code, ran.out) == (2, ""), target
