"""The page of measurements, the README's figures and `make bench` tell of the same records."""

import re
import subprocess
import sys

import pytest
from pages import ROOT, page_paths

BENCHMARKS = ROOT / "benchmarks"
pytestmark = pytest.mark.skipif(
    not (BENCHMARKS / "results").exists(), reason="a source distribution has no results"
)
sys.path.insert(0, str(BENCHMARKS))

import catalogue  # noqa: E402
import measure  # noqa: E402
import run_all  # noqa: E402

INDEX = re.compile(r"\b(?:pipx?|uvx?)\b[^\n`]*[ \"'=]unhack(?![\w./-])")
"""An installation of `unhack` by its name, from an index."""


def page() -> str:
    return (ROOT / "docs" / "reference" / "measurements.md").read_text(encoding="utf-8")


def listed() -> dict[str, tuple[str, bool]]:
    """By record of the page's last table: its command, and True where `make bench` runs it."""
    _, _, table = page().partition("\n## Records\n")
    rows = re.findall(r"^\| `(\w+)` \| `(.+?)` \| (.+?) \| .+ \|$", table, re.MULTILINE)
    return {name: (command, runs == "`make bench`") for name, command, runs in rows}


@pytest.mark.slow
def test_the_pages_and_the_readme_say_what_the_results_say():
    command = [sys.executable, str(BENCHMARKS / "figures.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_make_bench_runs_what_the_page_says_and_nothing_else(monkeypatch):
    ran = []

    def run(command, **_):
        ran.append(" ".join(["python", *command[1:]]))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(run_all.subprocess, "run", run)
    assert run_all.main() == 0
    assert ran[-1] == "python benchmarks/figures.py"
    assert sorted(ran[:-1]) == sorted(command for command, bench in listed().values() if bench)
    assert all((ROOT / command.split()[1]).exists() for command in ran)


def test_every_record_has_rows_and_every_row_a_record():
    told = set(re.findall(r"\[`(\w+)`\]\(#records\) \|$", page(), re.MULTILINE))
    assert told == set(listed()) == {record.name for record in catalogue.RECORDS}


def test_a_row_names_its_machine():
    rows = re.findall(r"^\|.+\| (.+?) \| \[`\w+`\]\(#records\) \|$", page(), re.MULTILINE)
    assert len(rows) > 40
    assert [machine for machine in rows if not re.search("cores|H200|not recorded", machine)] == []


@pytest.mark.parametrize("record", catalogue.RECORDS, ids=lambda record: record.name)
def test_a_result_was_made_by_the_command_of_its_record(record):
    command = measure.summary(record.name)["command"]
    assert command in (
        record.command,
        "unhack train sweep PLAN.toml --out RUNS; train_experiment.py RUNS",
    )


@pytest.mark.parametrize(
    ("line", "from_an_index"),
    [
        ("pip install unhack", True),
        ('pip install -q "unhack[math]"', True),
        ("uvx unhack doctor", True),
        ('pip install ".[math]"', False),
        ('pip install "./unhack[math]"', False),
        ("pip install git+https://example.org/x/unhack", False),
    ],
)
def test_the_pattern_knows_an_installation_from_an_index(line, from_an_index):
    assert bool(INDEX.search(line)) is from_an_index


def test_no_page_installs_unhack_from_an_index():
    recipes = [*page_paths(), ROOT / "Makefile", *(ROOT / ".ci").glob("*")]
    found = [path.name for path in recipes if INDEX.search(path.read_text(encoding="utf-8"))]
    assert found == []
