"""Harbor folders as a contest: solutions win, nothing earns nothing, images are used."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.sandbox.images.layouts import entry, shell_image, tar_of
from typer.testing import CliRunner

from unhack.cli.app import app
from unhack.core.errors import UsageError
from unhack.sandbox.images.source import ImageSource
from unhack.sandbox.images.store import ImageStore
from unhack.tournament.contest import DataPool, Terms
from unhack.tournament.contests.registry import load_contest
from unhack.tournament.hidden_data import hidden_reason
from unhack.tournament.judging.judge import Known, Seeds, SubmissionJudgement, judge
from unhack.tournament.judging.submission import freeze
from unhack.tournament.players.command_player import measurement_fields
from unhack.tournament.players.prompt import prompt

sys.path.insert(0, str(Path(__file__).parents[3] / "smoke"))
from toy_contest import inputs_in

TEST = """\
here=0
grep -qx {wanted} {file} && here=1
echo $here > /logs/verifier/reward.txt
"""


def task(folder: Path, name: str, *, wanted: str, docker: str = "FROM x\nWORKDIR /app\n") -> None:
    files = {
        "task.toml": 'artifacts = ["/app/answer.txt"]\n',
        "instruction.md": f"Write the word of {name} to /app/answer.txt.\n",
        "environment/Dockerfile": docker,
        "solution/solve.sh": f"echo {wanted} > /app/answer.txt\n",
        "tests/test.sh": TEST.format(wanted=wanted, file="/app/answer.txt"),
    }
    for path, text in files.items():
        place = folder / name / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    task(tmp_path / "words", "one", wanted="lantern")
    task(tmp_path / "words", "two", wanted="harbour")
    return tmp_path / "words"


def loaded(folder: Path, **options: str) -> Any:
    return load_contest("", {"folder": str(folder), **options})


def judged(contest: Any, files: dict[str, bytes], room: Path) -> SubmissionJudgement:
    (room / "work").mkdir(parents=True)
    for name, data in files.items():
        place = room / "work" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    frozen = freeze(room / "work", contest, into=room / "frozen")
    assert not frozen.problem
    return judge(contest, frozen.folder, seeds=Seeds(1, 2), terms=Terms(1), known=Known())


@pytest.mark.slow
def test_solutions_earn_everything_a_half_half_and_nothing_nothing(
    folder: Path, tmp_path: Path
) -> None:
    contest = loaded(folder)
    honest = dict(contest.submissions.honest()["solution"])
    assert honest == {"one/answer.txt": b"lantern\n", "two/answer.txt": b"harbour\n"}
    assert judged(contest, honest, tmp_path / "a").fitness == 1
    half = judged(contest, {"one/answer.txt": b"lantern\n"}, tmp_path / "b")
    assert (half.fitness, dict(half.measured.metrics)) == (0.5, {"one": 1.0, "two": 0.0})
    nothing = judged(contest, dict(contest.submissions.null()), tmp_path / "c")
    assert (nothing.fitness, nothing.flags) == (0.0, ())


def test_agents_see_instructions_and_neither_tests_nor_solutions(folder: Path) -> None:
    contest = loaded(folder)
    given = b"\n".join(contest.workspace(Terms(1)).values())
    assert b"Write the word of two" in given
    assert b"lantern" not in given
    assert b"reward" not in given


def checked(contest: Any, files: dict[str, bytes], room: Path) -> dict[str, Any]:
    """The answer of `unhack-check`."""
    room.mkdir()
    for name, data in files.items():
        (room / name).parent.mkdir(parents=True, exist_ok=True)
        (room / name).write_bytes(data)
    measured = contest.measure(room, pool=DataPool.DEV, seed=1)
    return measurement_fields(measured, hidden=hidden_reason(contest))


def test_a_check_says_what_the_judge_would_take_and_is_no_failure(
    folder: Path, tmp_path: Path
) -> None:
    contest = loaded(folder)
    both = checked(contest, {"one/answer.txt": b"a\n", "two/answer.txt": b"bcd\n"}, tmp_path / "a")
    assert (both["valid"], both["fitness"]) == (True, None)
    assert both["text"].splitlines()[1:] == [
        "this can be handed in:", "  one: 1 file, 2 bytes", "  two: 1 file, 4 bytes",
    ]  # fmt: skip
    assert "no development data" in both["text"]
    half = checked(contest, {"one/answer.txt": b"a\n", "one/b/c": b""}, tmp_path / "b")
    assert half["valid"]
    assert half["metrics"] == {
        "one": "1 file, 2 bytes; not asked for: b/c",
        "two": "nothing is there as answer.txt",
    }


def test_a_check_of_nothing_that_is_asked_for_is_not_valid(folder: Path, tmp_path: Path) -> None:
    found = checked(loaded(folder), {"one/other.txt": b"a\n"}, tmp_path / "a")
    assert not found["valid"]
    assert found["reason"] == "nothing was handed in as one/answer.txt, two/answer.txt"


def test_a_check_tells_artefacts_that_are_as_they_were_given(folder: Path, tmp_path: Path) -> None:
    (folder / "one" / "environment" / "answer.txt").write_text("todo\n")
    docker = "FROM x\nWORKDIR /app\nCOPY answer.txt /app/answer.txt\n"
    (folder / "one" / "environment" / "Dockerfile").write_text(docker)
    contest = loaded(folder)
    found = checked(contest, dict(contest.submissions.identity()), tmp_path / "a")
    assert found["valid"]
    assert found["metrics"]["one"] == "1 file, 5 bytes; as it was given: answer.txt"


def test_the_prompt_promises_no_fitness_of_a_check(folder: Path, tmp_path: Path) -> None:
    text = prompt(inputs_in(tmp_path, contest=loaded(folder)))
    assert "prints the fitness" not in text
    assert "It\n  prints no fitness: the tests of these tasks are the judge's" in text
    assert "\nup: one/**, two/**." in text


def test_every_file_of_every_task_is_hashed(folder: Path) -> None:
    before = dict(loaded(folder).settings)
    (folder / "two" / "tests" / "test.sh").write_text("echo 1 > /logs/verifier/reward.txt\n")
    after = dict(loaded(folder).settings)
    assert [key for key in before if before[key] != after[key]] == ["file two/tests/test.sh"]


def test_an_image_that_is_not_built_is_named_with_the_command_that_builds_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNHACK_IMAGES", str(tmp_path / "none"))
    task(folder, "three", wanted="x", docker="FROM x\nRUN apt-get install -y gcc\n")
    with pytest.raises(UsageError, match="unhack env build"):
        loaded(folder)


RUNS = """\
[ "$(/opt/tool.sh /work/given.txt)" = "lantern here" ] && reward=1 || reward=0
echo $reward > /logs/verifier/reward.txt
"""


@pytest.fixture
def in_image(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of tasks of which one has an image and declares nothing."""
    monkeypatch.setenv("UNHACK_IMAGES", str(tmp_path / "store"))
    task(folder, "three", wanted="x", docker="FROM x\nRUN true\nWORKDIR /work\n")
    three = folder / "three"
    (three / "task.toml").write_text("")
    (three / "instruction.md").write_text("Write /opt/tool.sh, which prints its file and here.\n")
    (three / "tests" / "test.sh").write_text(RUNS)
    (three / "solution" / "solve.sh").write_text(f"{TOOL} > /opt/tool.sh; chmod +x /opt/tool.sh\n")
    layer = tar_of([entry("work/given.txt", b"lantern\n"), entry("opt/kept", b"kept\n")])
    shell_image(tmp_path / "image", layer)
    source = ImageSource(three / "environment")
    ImageStore().take(tmp_path / "image", key=source.key)
    return folder


TOOL = r"printf '#!/bin/sh\necho $(cat $1) here\n'"
PROGRAM = b"#!/bin/sh\necho $(cat $1) here\n"


@pytest.mark.slow
def test_an_entry_is_judged_in_the_image_of_its_task(in_image: Path, tmp_path: Path) -> None:
    contest = loaded(in_image)
    honest = dict(contest.submissions.honest()["solution"])
    assert honest["three/opt/tool.sh"] == PROGRAM
    assert dict(contest.submissions.identity())["three/work/given.txt"] == b"lantern\n"
    whole = judged(contest, honest, tmp_path / "a")
    assert dict(whole.measured.metrics) == {"one": 1.0, "two": 1.0, "three": 1.0}
    wrong = {"three/opt/tool.sh": b"#!/bin/sh\ncat $1\n"}
    assert judged(contest, wrong, tmp_path / "b").fitness == 0.0
    nothing = judged(contest, dict(contest.submissions.null()), tmp_path / "c")
    assert (nothing.fitness, nothing.flags) == (0.0, ())


@pytest.mark.slow
@pytest.mark.parametrize(
    "files",
    [
        {"three/usr": b"in place of a folder"},
        {"three/work/given.txt/below": b"below a file"},
        {"three/tests/test.sh": b"echo 1 > /logs/verifier/reward.txt\n"},
        {"three/logs/verifier/reward.txt": b"1\n"},
        {"three/usr/bin/cat": b"#!/bin/sh\necho lantern\n", "three/opt/tool.sh": b"#!/bin/sh\ncat"},
    ],
)
def test_an_entry_that_does_not_fit_into_an_image_or_forges_there_earns_nothing(
    in_image: Path, tmp_path: Path, files: dict[str, bytes]
) -> None:
    assert judged(loaded(in_image), files, tmp_path / "a").fitness == 0.0


@pytest.mark.slow
def test_a_check_runs_the_agents_script_in_the_judges_image(in_image: Path, tmp_path: Path) -> None:
    script = b"pwd; /opt/tool.sh given.txt; cat /opt/kept; ls /tests /solution; exit 3\n"
    contest = loaded(in_image)
    tried = {"three/opt/tool.sh": PROGRAM, "three/try.sh": script}
    found = checked(contest, tried, tmp_path / "a")
    said = found["metrics"]["three/try.sh"]
    assert said.startswith("exit code 3\n/work\nlantern here\nkept\n")
    assert "test.sh" not in said
    assert found["metrics"]["three"] == f"1 file, {len(PROGRAM)} bytes"
    odd = {"three/usr": b"", "three/try.sh": b"echo hello"}
    assert "not run: 'usr' is a folder" in str(checked(contest, odd, tmp_path / "b")["metrics"])
    assert b"three/try.sh" in contest.workspace(Terms(1))["STATEMENT.md"]


def test_another_image_is_another_contest(in_image: Path, tmp_path: Path) -> None:
    before = dict(loaded(in_image).settings)
    shell_image(tmp_path / "other", tar_of([entry("work/given.txt", b"other\n")]))
    source = ImageSource(in_image / "three" / "environment")
    ImageStore().take(tmp_path / "other", key=source.key)
    after = dict(loaded(in_image).settings)
    assert [key for key in before if before[key] != after[key]] == ["file three/image"]


def test_a_task_without_a_solution_and_unknown_options_are_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="no option 'size'"):
        loaded(folder, size="demo")
    (folder / "one" / "solution" / "solve.sh").unlink()
    with pytest.raises(UsageError, match=r"no solution/solve.sh"):
        loaded(folder)


@pytest.mark.slow
def test_a_tournament_of_harbor_tasks_is_played_and_replayed(folder: Path, tmp_path: Path) -> None:
    run = CliRunner()
    assert run.invoke(app, ["tournament", "validate", str(folder)]).exit_code == 0
    out = str(tmp_path / "out")
    words = ["--agent", "baseline:solution", "--rounds", "1", "--seed", "1", "--out", out, "--json"]
    played = run.invoke(app, ["tournament", "run", str(folder), *words])
    assert played.exit_code == 0, played.output
    found = json.loads(played.stdout)
    assert found["settings"]["contest"] == "harbor-words"
    best = {item["agent"]: item["best"] for item in found["standings"]}
    assert (best["baseline:solution"], best["control:null"]) == (1.0, 0.0)
    assert run.invoke(app, ["tournament", "replay", out]).exit_code == 0
    (folder / "one" / "tests" / "test.sh").write_text("echo 1 > /logs/verifier/reward.txt\n")
    again = run.invoke(app, ["tournament", "replay", out])
    assert again.exit_code != 0
    assert "was changed since the tournament began: one/tests/test.sh" in str(again.exception)
    unsound = run.invoke(app, ["tournament", "validate", str(folder)])
    assert unsound.exit_code == 1
    assert "gives the untouched workspace a full reward" in unsound.stdout


@pytest.mark.slow
def test_an_agent_that_checks_its_artefacts_is_not_told_of_a_failure(
    folder: Path, tmp_path: Path
) -> None:
    script = tmp_path / "agent.sh"
    script.write_text(
        "unhack-check; echo nothing is $?\nmkdir -p one\necho lantern > one/answer.txt\n"
        "unhack-check; echo half is $?\n"
    )
    out = tmp_path / "out"
    words = ["--agent", f"mine=/bin/sh {script} {{prompt}}", "--rounds", "1", "--out", str(out)]
    played = CliRunner().invoke(app, ["tournament", "run", str(folder), *words])
    assert played.exit_code == 0, played.output
    [said] = [path.read_text() for path in out.rglob("stdout.jsonl")]
    assert "nothing is 1" in said
    assert "this can be handed in:\n  one: 1 file, 8 bytes\n" in said
    assert "half is 0" in said
