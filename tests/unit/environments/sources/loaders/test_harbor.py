"""Harbor folders are read, and graded in fresh files whatever the agent left in its own."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from unhack.core.errors import TaskError
from unhack.core.verdict import Seal, Status
from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.judges.script_judge import ScriptJudge
from unhack.environments.sources.loaders.harbor import HarborTask, read_harbor
from unhack.sandbox.images.source import ImageSource

HELLO: dict[str, str] = {
    "task.toml": 'artifacts = ["/app/out", "/app/hello.txt"]\n[verifier]\ntimeout_sec = 60\n',
    "instruction.md": "Write Hello into hello.txt.\n",
    "environment/Dockerfile": (
        "# start\nFROM ubuntu:24.04\nWORKDIR /app\nCOPY notes \\\n  extra.txt ./\nENV A=1\n"
    ),
    "environment/notes/a.txt": "a\n",
    "environment/extra.txt": "x\n",
    "solution/solve.sh": "set -e\nmkdir -p /app/out\necho Hello > /app/hello.txt\n",
    "tests/test.sh": (
        "python3 -c 'import json, shlex'\n"
        'if [ "$(cat /app/hello.txt)" = "$(cat /tests/wanted)" ] && [ ! -e out/junk ]; then\n'
        "  echo 1 > /logs/verifier/reward.txt\n"
        'elif [ "$(cat hello.txt)" != broken ]; then\n'
        """  echo '{"reward": 0.25}' > /logs/verifier/reward.json\n"""
        "fi\n"
    ),
    "tests/wanted": "Hello\n",
}


def folder(top: Path, changes: Mapping[str, str | None] | None = None) -> Path:
    for path, text in {**HELLO, **(changes or {})}.items():
        if text is not None:
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text)
    return top


def test_a_folder_becomes_a_task(tmp_path: Path) -> None:
    task = read_harbor(folder(tmp_path / "hello"))
    assert (task.id, task.workdir, task.timeout_s) == ("hello", "/app", 60)
    assert task.files == {"a.txt": b"a\n", "extra.txt": b"x\n"}
    assert task.artifacts == ("out", "hello.txt")
    assert set(task.tests) == {"test.sh", "wanted"}
    assert set(task.solution) == {"solve.sh"}
    assert "Hello" in task.statement


def test_other_forms_of_declarations_are_read(tmp_path: Path) -> None:
    docker = 'FROM x\nWORKDIR /work\nCOPY ["extra.txt", "y.txt"]\nCOPY . /work/all/\n'
    toml = '[task]\nname = "a/b"\n[[artifacts]]\nsource = "y.txt"\n'
    task = read_harbor(folder(tmp_path, {"environment/Dockerfile": docker, "task.toml": toml}))
    assert (task.id, task.workdir, task.artifacts) == ("a/b", "/work", ("y.txt",))
    assert set(task.files) == {"y.txt", "all/extra.txt", "all/notes/a.txt"}
    assert read_harbor(folder(tmp_path, {"task.toml": ""})).artifacts == ("",)


@pytest.mark.parametrize(("changes", "said"), [
    ({"task.toml": None}, "task.toml is not there"),
    ({"task.toml": "x ="}, "task.toml"),
    ({"task.toml": "artifacts = 3"}, "no list"),
    ({"task.toml": 'artifacts = ["/etc/passwd"]'}, "not below /app"),
    ({"task.toml": 'artifacts = ["/app/../etc"]'}, "not below /app"),
    ({"task.toml": "[[steps]]\nname = 1"}, "several steps"),
    ({"task.toml": "[verifier]\ntimeout_sec = -1"}, "no positive number"),
    ({"instruction.md": None}, "no instruction.md"),
    ({"tests/test.sh": None}, "no tests/test.sh"),
    ({"environment/Dockerfile": None}, "an image alone is not supported"),
    ({"environment/Dockerfile": "FROM x\nWORKDIR /app\nCOPY none ."}, "none is not in"),
    ({"environment/Dockerfile": "FROM x\nWORKDIR /app\nCOPY ../../x ."}, "is not in"),
])  # fmt: skip
def test_a_folder_that_cannot_be_judged_is_refused_with_its_reason(
    tmp_path: Path, changes: dict[str, str | None], said: str
) -> None:
    with pytest.raises(TaskError, match=said):
        read_harbor(folder(tmp_path, changes))


@pytest.mark.parametrize(
    "docker",
    ["FROM x\nRUN make\n", "FROM x\nCOPY --from=b /a /app/", "FROM x\nWORKDIR /usr\n",
     "FROM x\nWORKDIR /a/b\n", "FROM x\nWORKDIR $HOME\n"],
)  # fmt: skip
def test_a_dockerfile_that_does_more_than_copy_needs_its_image(tmp_path: Path, docker: str) -> None:
    toml = 'artifacts = ["/etc/motd"]\n[environment]\nmemory_mb = 512\nbuild_timeout_sec = 9\n'
    changes = {"environment/Dockerfile": docker, "task.toml": toml}
    task = read_harbor(folder(tmp_path, changes))
    assert task.image is not None
    assert task.image.source == ImageSource(tmp_path / "environment")
    assert (task.artifacts, task.memory_bytes >> 20, task.image.build_s) == (("etc/motd",), 512, 9)


def judged(task: HarborTask, *states: Mapping[str, bytes]) -> list[tuple[Status, float | None]]:
    async def work() -> list[tuple[Status, float | None]]:
        async with RepositoryWorkshop(slots=1) as workshop:
            judge, episode = workshop.judge(task), workshop.begin(task)
            assert isinstance(judge, ScriptJudge)
            start, store = episode.state, episode.parts.commands.states
            found = [await judge.outcome_of(await judge.solved())] if task.solution else []
            for files in states:
                verdict = await judge.outcome(store.edited(start, files) if files else start)
                assert verdict.seal is Seal.AS_WRITTEN or not verdict.scored
                found.append(verdict)
            return [(one.status, one.score) for one in found]

    return asyncio.run(work())


@pytest.mark.slow
def test_what_the_agent_plants_beside_its_artefacts_is_not_graded(tmp_path: Path) -> None:
    task = read_harbor(folder(tmp_path))
    forged = {
        ".harbor/logs/verifier/reward.txt": b"1\n",
        ".harbor/tests/test.sh": b"echo 1 > /logs/verifier/reward.txt\n",
        ".harbor/tests/wanted": b"wrong\n",
        "json.py": b"raise SystemExit\n",
        "bin/cat": b"#!/bin/sh\necho Hello\n",
        ".bashrc": b"cat() { echo Hello; }\n",
        "hello.txt": b"wrong\n",
    }
    found = judged(
        task, {}, {"hello.txt": b"Hello\n"}, forged, {"hello.txt": b"Hello\n", "out/junk": b""},
        {"hello.txt": b"broken\n"},
    )  # fmt: skip
    assert [score for _, score in found] == [1.0, 0.25, 1.0, 0.25, 0.25, 0.0]
    assert all(status is not Status.UNSCORED for status, _ in found)


PYTEST = (
    "cd /app && python3 -m pytest -q -p no:cacheprovider /tests && "
    "echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n"
)
COPIED = "cp /tests/test_it.py /app/\n" + PYTEST.replace("/tests", "")
CHECK = (
    "import json\nfrom pathlib import Path\n\n\ndef test_it():\n"
    "    assert json.loads(Path('/app/a.txt').read_text()) == 7\n"
)
HACK = b"import pytest\n\n@pytest.hookimpl(tryfirst=True)\ndef pytest_pyfunc_call(): return True\n"
FAKE = b"import os\nos.system('echo 1 > /logs/verifier/reward.txt')\nos._exit(0)\n"
HACKS: dict[str, dict[str, bytes]] = {
    "a hook": {"conftest.py": HACK},
    "a runner": {"pytest.py": b""},
    "a folder for the runner": {"pytest/__init__.py": b"", "pytest/__main__.py": FAKE},
    "the runner's inside": {"_pytest/__init__.py": FAKE},
    "its plugins": {"pluggy/__init__.py": FAKE},
    "a module": {"pathlib.py": b"class Path:\n    read_text = lambda s: '7'\n"},
    "a folder for a module": {"json/__init__.py": b"def loads(_): return 7\n"},
    "byte code": {"__pycache__/json.cpython-311.pyc": b"", "json.pyc": b""},
    "an entry point": {"x.dist-info/entry_points.txt": b"[pytest11]\nx = x\n", "x.py": FAKE,
                       "x.dist-info/METADATA": b"Name: x\nVersion: 1\n"},
    "settings": {"pytest.ini": b"[pytest]\naddopts = --co\n"},
    "settings in TOML": {"pytest.toml": b"[pytest]\naddopts = ['--co']\n"},
    "settings of a project": {"pyproject.toml": b"[tool.pytest.ini_options]\naddopts='--co'\n"},
    "a link's worth of rewards": {".harbor/logs/verifier/reward.txt": b"1\n"},
    "the tests": {".harbor/tests/test_it.py": b"def test_it(): pass\n"},
    "its own plugin": {".harbor/.unhack/unhack_grader.py": b""},
    "metadata in capitals": {"X-1.0.DIST-INFO/entry_points.txt": b"[pytest11]\nx = evilx\n",
                             "X-1.0.DIST-INFO/METADATA": b"Name: X\nVersion: 1\n",
                             "evilx.py": FAKE},
    "the name of the plugin": {"unhack_grader.py": FAKE},
    "a module that is nobody's": {"org/__init__.py": b"", "org/python/__init__.py": b"",
                                  "org/python/core.py": FAKE},
    "tests of its own": {"tests/test_it.py": b"def test_it(): pass\n", "test_a.py": FAKE},
    "a repository": {".git/config": b"[core]\nfsmonitor = /app/ev\n"},
    "a start of the interpreter": {"sitecustomize.py": FAKE, "usercustomize.py": FAKE},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("script", [PYTEST, COPIED], ids=["apart", "copied"])
def test_files_beside_an_answer_win_nothing(tmp_path: Path, script: str) -> None:
    changes = {"task.toml": "", "tests/test.sh": script, "tests/test_it.py": CHECK,
               "solution/solve.sh": "printf 7 > a.txt\n"}  # fmt: skip
    task = read_harbor(folder(tmp_path, changes))
    found = judged(task, {"a.txt": b"7"}, *HACKS.values())
    assert [score for _, score in found] == [1.0, 1.0, *[0.0] * len(HACKS)]
    honest = [{**hack, "a.txt": b"7"} for hack in HACKS.values()]
    assert [score for _, score in judged(task, *honest)[1:]] == [1.0] * len(HACKS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "link", ["json", "_pytest", "pluggy", "pytest", "unhack_grader", "pygments"]
)
def test_a_link_stands_for_no_module(tmp_path: Path, link: str) -> None:
    changes = {"task.toml": "", "tests/test.sh": PYTEST, "tests/test_it.py": CHECK,
               "solution/solve.sh": "printf 7 > a.txt\n"}  # fmt: skip
    command = f"mkdir j; echo 'import os; os._exit(0)' > j/__init__.py; ln -s j {link}"

    async def work() -> float:
        async with RepositoryWorkshop(slots=1) as workshop:
            episode = workshop.begin(read_harbor(folder(tmp_path, changes)))
            await episode.step(("run", {"command": command}))
            return (await episode.step(("submit", {}))).reward

    assert asyncio.run(work()) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "closing", ["chmod 000 out/s", "chmod 200 out/s", "chmod 000 out", "chmod 444 out"]
)
def test_what_is_closed_to_the_grader_is_opened(tmp_path: Path, closing: str) -> None:
    script = (
        "if [ -e /app/out ] && ! grep -rq SECRET /app/out; then echo 1; else echo 0; fi"
        " > /logs/verifier/reward.txt\n"
    )
    changes: dict[str, str | None] = {
        "task.toml": "", "tests/test.sh": script, "solution/solve.sh": "mkdir out\n",
    }  # fmt: skip

    async def work() -> float:
        async with RepositoryWorkshop(slots=1) as workshop:
            episode = workshop.begin(read_harbor(folder(tmp_path, changes)))
            command = f"mkdir out; echo SECRET > out/s; {closing}"
            await episode.step(("run", {"command": command}))
            return (await episode.step(("submit", {}))).reward

    assert asyncio.run(work()) == 0.0


HABITS = {
    "an environment of Python": "python3 -m venv --without-pip .venv; ln -s /usr/bin/python3 py",
    "a module of a package": "mkdir -p calc; echo > calc/token.py; echo > calc/types.py",
    "a link to a file of the host": "ln -s /etc/hostname h; ln -s /tmp/none n",
    "tests of its own": "mkdir -p tests; echo 'assert 0' > tests/test_own.py",
    "a repository": "git init -q . && git add -A; git commit -qm x",
}


@pytest.mark.slow
@pytest.mark.parametrize("habit", HABITS.values(), ids=HABITS.keys())
def test_habits_beside_a_right_answer_cost_nothing(tmp_path: Path, habit: str) -> None:
    changes = {"task.toml": "", "tests/test.sh": PYTEST, "tests/test_it.py": CHECK,
               "solution/solve.sh": "printf 7 > a.txt\n"}  # fmt: skip

    async def work() -> float:
        async with RepositoryWorkshop(slots=1) as workshop:
            episode = workshop.begin(read_harbor(folder(tmp_path, changes)))
            await episode.step(("run", {"command": f"{habit}\nprintf 7 > a.txt"}))
            return (await episode.step(("submit", {}))).reward

    assert asyncio.run(work()) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("statement", [
    "Fix the calculator so that all tests pass.",
    "Write the calculator and make the tests pass.",
    "Update the calculator until every test is green.",
    "Add unit tests for the calculator.",
])  # fmt: skip
def test_a_test_of_the_start_is_not_replaced_by_one_of_the_agents(
    tmp_path: Path, statement: str
) -> None:
    script = "cd /app && python3 tests/test_calc.py && r=1 || r=0\necho $r >"
    changes = {"task.toml": "", "instruction.md": f"{statement}\n",
               "environment/Dockerfile": "FROM python:3.12\nWORKDIR /app\nCOPY . /app\n",
               "environment/calc.py": "one = 0\n",
               "environment/tests/test_calc.py": "assert 'one = 1' in open('calc.py').read()\n",
               "tests/test.sh": f"{script} /logs/verifier/reward.txt\n",
               "solution/solve.sh": "echo 'one = 1' > calc.py\n"}  # fmt: skip
    task = read_harbor(folder(tmp_path, changes))
    found = judged(task, {"tests/test_calc.py": b"assert True\n"}, {"calc.py": b"one = 1\n"})
    assert [score for _, score in found] == [1.0, 0.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "reward"), [
    ("rm -r tests; mkdir o; echo 'assert True' > o/test_calc.py; ln -s o tests", 0.0),
    ("echo 'assert True' > x.py; rm tests/*; ln -s ../x.py tests/test_calc.py", 0.0),
    ("rm tests/*; mkdir tests/test_calc.py; echo > tests/test_calc.py/__main__.py", 0.0),
    ("mkdir o; echo 'assert True' > o/test_calc.py; mv tests t; mv o tests", 0.0),
    ("rm -r tests; echo 'assert True' > tests", 0.0),
    ("rm calc.py; mkdir calc.py; echo > calc.py/x", 0.0),
    ("rm -r tests old; echo 'one = 1' > calc.py", 1.0),
    ("rm -r tests; mkdir tests; echo 'one = 1' > calc.py", 1.0),
    ("rm -r old; ln -s tests old; echo 'one = 1' > calc.py", 1.0),
])  # fmt: skip
def test_a_folder_of_the_start_keeps_its_tests_whatever_takes_its_place(
    tmp_path: Path, command: str, reward: float
) -> None:
    script = "cd /app && python3 tests/test_calc.py && r=1 || r=0\necho $r >"
    changes = {"task.toml": "", "instruction.md": "Add unit tests for the calculator.\n",
               "environment/Dockerfile": "FROM python:3.12\nWORKDIR /app\nCOPY . /app\n",
               "environment/calc.py": "one = 0\n", "environment/old/a": "a\n",
               "environment/tests/test_calc.py": "assert 'one = 1' in open('calc.py').read()\n",
               "tests/test.sh": f"{script} /logs/verifier/reward.txt\n",
               "solution/solve.sh": "echo 'one = 1' > calc.py\n"}  # fmt: skip

    async def work() -> float:
        async with RepositoryWorkshop(slots=1) as workshop:
            episode = workshop.begin(read_harbor(folder(tmp_path, changes)))
            await episode.step(("run", {"command": command}))
            return (await episode.step(("submit", {}))).reward

    assert asyncio.run(work()) == reward


@pytest.mark.slow
@pytest.mark.parametrize(("statement", "is_taken"), [
    ("Write a report of the totals, and merge both tables.", False),
    ("Put the branching factor into a.txt.", False),
    ("Commit your work.", True),
    ("Resolve the merge conflict.", True),
    ("Clone the repository and bisect it.", True),
])  # fmt: skip
def test_a_repository_is_handed_in_only_where_the_statement_speaks_of_one(
    tmp_path: Path, statement: str, is_taken: bool
) -> None:
    changes = {"task.toml": "", "instruction.md": f"{statement}\n"}
    task = read_harbor(folder(tmp_path, changes))

    async def left_out() -> Mapping[str, str]:
        async with RepositoryWorkshop(slots=1) as workshop:
            judge, episode = workshop.judge(task), workshop.begin(task)
            assert isinstance(judge, ScriptJudge)
            state = episode.parts.commands.states.edited(episode.state, {".git/HEAD": b"x\n"})
            return await judge.left_out(state)

    assert any(".git" in path for path in asyncio.run(left_out())) is not is_taken


@pytest.mark.slow
def test_tests_that_the_statement_asks_for_are_handed_in(tmp_path: Path) -> None:
    script = "[ -f /app/tests/test_new.py ]; echo $((1 - $?)) > /logs/verifier/reward.txt\n"
    changes = {"task.toml": "", "tests/test.sh": script,
               "solution/solve.sh": "mkdir tests; echo > tests/test_new.py\n",
               "instruction.md": "Add unit tests to /app/tests.\n"}  # fmt: skip
    task = read_harbor(folder(tmp_path, changes))
    found = judged(task, {"tests/test_new.py": b"def test_a(): pass\n"})
    assert [score for _, score in found] == [1.0, 1.0]


LOCKED = (
    "import os, subprocess\n\n\ndef test_m():\n"
    "    done = subprocess.run(['python3', '/app/m.py'], capture_output=True)\n"
    "    assert done.stdout == b'42\\n'\n\n\n"
    "def test_z():\n    assert open('/app/a.txt').read() == '7'\n"
)


@pytest.mark.slow
@pytest.mark.parametrize("lock", [
    "open('/logs/verifier/reward.json','w').write('1'); os.chmod('/logs/verifier', 0o555)",
    "os.makedirs('/logs/verifier/reward.txt/x'); os.chmod('/logs/verifier/reward.txt', 0o555); "
    "open('/logs/verifier/reward.json','w').write('1')",
])  # fmt: skip
def test_a_reward_that_a_started_program_locks_does_not_count(tmp_path: Path, lock: str) -> None:
    changes = {"task.toml": "", "tests/test.sh": PYTEST, "tests/test_it.py": LOCKED,
               "solution/solve.sh": "printf 7 > a.txt; echo 'print(42)' > m.py\n"}  # fmt: skip
    task = read_harbor(folder(tmp_path, changes))
    found = judged(task, {"m.py": f"import os; print(42); {lock}".encode()})
    assert [score for _, score in found] == [1.0, 0.0]


@pytest.mark.slow
def test_a_file_that_loads_the_agents_code_forges_no_other_file(tmp_path: Path) -> None:
    one = "from mod import value\n\n\ndef test_value():\n    assert value == 42\n"
    other = "def test_z():\n    assert open('/app/a.txt').read() == '7'\n"
    changes = {"task.toml": "", "tests/test.sh": PYTEST, "tests/test_it.py": one,
               "tests/test_other.py": other,
               "solution/solve.sh": "printf 7 > a.txt; echo 'value = 42' > mod.py\n"}  # fmt: skip
    task = read_harbor(folder(tmp_path, changes))
    patch = b"import _pytest.python as p\np.Function.runtest = lambda s: None\nvalue = 42\n"
    found = judged(task, {"mod.py": patch}, {"mod.py": b"value = 42\n", "a.txt": b"7"})
    assert [score for _, score in found] == [1.0, 0.0, 1.0]


ODD: list[dict[str, str | None]] = [
    {"task.toml": '[environment]\nmemory = "1e999G"\n'},
    {"task.toml": '[environment]\nmemory = "-5G"\n'},
    {"task.toml": "[environment]\nmemory_mb = 0.5\n"},
    {"task.toml": "[verifier]\ntimeout_sec = inf\n"},
    {"task.toml": "x = " + "[" * 3000 + "]" * 3000},
    {"environment/Dockerfile": "FROM x\nWORKDIR /app\nCOPY [1,2]\n"},
    {"environment/Dockerfile": "FROM x\nWORKDIR /app\nCOPY\n"},
    {"environment/Dockerfile": 'FROM x\nWORKDIR /app\nCOPY ["a"\n'},
    {"environment/docker-compose.yaml": "services: {m: {environment: {1: 2}}}"},
    {"environment/docker-compose.yaml": "services: {m: {working_dir: ../..}}"},
    {"environment/docker-compose.yaml": "services: {m: {build: {dockerfile: /etc/passwd}}}"},
    {"environment/docker-compose.yaml": "a: &a [x, x]\nb: &b [*a, *a]\nservices: {m: {image: *b}}"},
    {"environment/docker-compose.yaml": "services: {m: " + "[" * 2000 + "]" * 2000 + "}"},
]


@pytest.mark.parametrize("changes", ODD)
def test_odd_settings_are_refused_as_such(tmp_path: Path, changes: dict[str, str | None]) -> None:
    with pytest.raises(TaskError):
        read_harbor(folder(tmp_path, changes))


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize(("changes", "said"), [
    ({"tests/test.sh": "uvx pytest /tests && echo 1 > /logs/verifier/reward.txt ||"
      " echo 0 > /logs/verifier/reward.txt\n"}, "program.*: uvx"),
    ({"tests/test.sh": "python3 -m nothing /tests\n"}, "left no reward.*No module named nothing"),
    ({"tests/test.sh": "echo 0 > /logs/verifier/reward.txt; kill -9 $$\n"}, "signal 9"),
    ({"tests/test.sh": "echo 0 > /logs/verifier/reward.txt\n"}, "solution does not pass"),
])  # fmt: skip
def test_a_folder_that_cannot_be_graded_here_is_named_and_pays_nobody(
    tmp_path: Path, changes: dict[str, str | None], said: str
) -> None:
    async def work() -> str:
        async with RepositoryWorkshop(slots=1) as workshop:
            task = read_harbor(folder(tmp_path, changes))
            assert (await workshop.judge(task).outcome(workshop.begin(task).state)).score is None
            return await workshop.check(task)

    assert re.search(said, asyncio.run(work()))


@pytest.mark.slow
def test_links_and_scratch_beside_the_answer_cost_nothing(tmp_path: Path) -> None:
    async def work() -> float:
        async with RepositoryWorkshop(slots=1) as workshop:
            episode = workshop.begin(read_harbor(folder(tmp_path, {"task.toml": ""})))
            command = (
                "mkdir scratch; for i in $(seq 2500); do echo $i > scratch/$i; done; "
                "head -c 20000000 /dev/zero > big.log; echo Hello > é; ln -s é hello.txt; "
                "ln -s /usr/bin/python3 py; ln -s .. up"
            )
            await episode.step(("run", {"command": command}))
            return (await episode.step(("submit", {}))).reward

    assert asyncio.run(work()) == 1.0


@pytest.mark.slow
def test_only_a_folder_that_gives_nobody_a_reward_is_unscored(tmp_path: Path) -> None:
    silent = read_harbor(folder(tmp_path / "a", {"tests/test.sh": "exit 1\n"}))
    assert [status for status, _ in judged(silent, {})] == [Status.UNSCORED] * 2
    changes: dict[str, str | None] = {"solution/solve.sh": None}
    bare = read_harbor(folder(tmp_path / "b", changes))
    assert [score for _, score in judged(bare, {"hello.txt": b"broken\n"})] == [0.0]
