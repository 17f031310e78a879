"""A contest in a distribution of its own, and an engine that has none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "contest-knapsack"
UNHACK = str(Path(sys.executable).with_name("unhack"))
SERVER = """
import sys, time
from pathlib import Path

from starlette.testclient import TestClient

from unhack.server.access.caller import Grant
from unhack.server.app import make_app
from unhack.server.service import ServerSettings, Service

service = Service(ServerSettings(data=Path(sys.argv[1])))
headers = {"Authorization": "Bearer " + service.directory.add_key("alpha", list(Grant))}
with TestClient(make_app(service)) as client:
    def order(**more):
        asked = {"contest": "knapsack", "agents": ["baseline:density"], "options": {"bags": "4"}}
        return client.post("/v1/tournaments", json=asked | more, headers=headers)

    refused = order(options={"bags": "201"})
    assert refused.status_code == 400, refused.text
    assert "not a whole number up to 200" in refused.json()["error"]["message"]
    job = order().json()
    while job["state"] in ("queued", "running"):
        time.sleep(0.1)
        job = client.get("/v1/jobs/" + job["id"], headers=headers).json()
    assert job["state"] == "done", job["error"]
    print(client.get(job["page"], headers=headers).text)
"""
READS_ITS_JUDGE = """
import sys, tempfile
from pathlib import Path

from unhack.tournament.contest import DataPool
from unhack.tournament.contests.registry import load_contest

with tempfile.TemporaryDirectory() as place:
    source = "import contest_knapsack\\n\\n\\ndef choose(*given):\\n    return [0]\\n"
    Path(place, "solution.py").write_text(source)
    found = load_contest("knapsack", {"bags": "2"}).measure(Path(place), pool=DataPool.DEV, seed=1)
print(found.reason)
"""
HIDDEN = """
import importlib.metadata, sys

found = importlib.metadata.distributions
importlib.metadata.distributions = lambda **given: [
    one for one in found(**given) if one.metadata["Name"] != "unhack-contests"
]
sys.modules["unhack_contests"] = None
"""


def _python(source: str, *arguments: str, site: Path | None = None) -> str:
    """The output of a program, with its errors; AssertionError where it fails."""
    command = [sys.executable, "-c", source, *arguments]
    done = _run(command, site)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _run(command: list[str], site: Path | None = None) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, **({"PYTHONPATH": str(site)} if site else {})}
    return subprocess.run(command, capture_output=True, text=True, env=environ, check=False)


def _credited(told: str) -> dict[str, float]:
    """Agent -> the fitness of its first round."""
    [first, *_] = json.loads(told)["rounds"]
    return {one["agent"]: one["fitness"] for one in first["entries"]}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the example's wheel is installed."""
    place = tmp_path_factory.mktemp("site")
    install = ["install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    pip = [sys.executable, "-m", "pip", *install, "--target", str(place), str(EXAMPLE)]
    subprocess.run(pip, check=True)
    return place


@pytest.mark.slow
def test_the_command_line_lists_and_plays_it_and_writes_its_report(
    site: Path, tmp_path: Path
) -> None:
    listed = _run([UNHACK, "tournament", "contests", "--json"], site)
    assert listed.returncode == 0, listed.stderr
    told = json.loads(listed.stdout)["knapsack"]
    assert (told["title"], told["honest"][0]) == ("Carry the most", "value")
    out = tmp_path / "out"
    agents = [f"--agent={name}" for name in ("baseline:density", "cheater:states_a_value")]
    rest = ["--rounds=1", "--seed=3", "--option=bags=6", f"--out={out}", "--json"]
    played = _run([UNHACK, "tournament", "run", "knapsack", *agents, *rest], site)
    assert played.returncode == 0, played.stderr
    credited = _credited(played.stdout)
    assert credited["baseline:density"] > 0.9
    assert credited["cheater:states_a_value"] == credited["control:null"] == 0
    report = _run([UNHACK, "tournament", "report", str(out)], site)
    assert report.returncode == 0, report.stderr
    page = (out / "report.html").read_text()
    assert "Carry the most" in page
    assert "least share against mean share" in page


def test_a_server_plays_it_and_shows_its_page(site: Path, tmp_path: Path) -> None:
    page = _python(SERVER, str(tmp_path / "data"), site=site)
    assert "Carry the most" in page
    assert "least share against mean share" in page


def test_no_submission_reads_the_module_of_its_contest(site: Path) -> None:
    reason = _python(READS_ITS_JUDGE, site=site)
    assert reason == "ModuleNotFoundError: No module named 'contest_knapsack'\n"


class TestWithoutAContest:
    """The engine where no distribution brings contests."""

    @pytest.mark.parametrize("arguments", [["contests"], ["run", "kernels", "--out", "never"]])
    def test_a_command_names_what_to_install(self, arguments: list[str], tmp_path: Path) -> None:
        source = HIDDEN + "from unhack.cli.app import main\nmain()"
        command = [sys.executable, "-c", source, "tournament", *arguments]
        done = _run(command)
        assert done.returncode == 2, done.stderr
        assert "no contest is installed: pip install ./packages/contests" in done.stderr

    def test_the_demo_names_what_to_install_for_its_tournament(self, tmp_path: Path) -> None:
        source = HIDDEN + (
            "from pathlib import Path\n"
            "from unhack.cli.demo import short_tournament\n"
            "from unhack.core.errors import UsageError\n"
            "try:\n"
            "    short_tournament.play(Path(sys.argv[1]), watch=print)\n"
            "except UsageError as error:\n"
            "    print(error)\n"
        )
        assert "pip install ./packages/contests" in _python(source, str(tmp_path / "played"))

    @pytest.mark.slow
    def test_a_folder_of_ones_own_is_played_all_the_same(self, tmp_path: Path) -> None:
        source = HIDDEN + "from unhack.cli.app import main\nmain()"
        start = [sys.executable, "-c", source, "tournament"]
        made = _run([*start, "new", str(tmp_path / "own")])
        assert made.returncode == 0, made.stderr
        options = ["--option=size=demo", "--agent=baseline", "--rounds=1", "--json"]
        out = f"--out={tmp_path / 'out'}"
        played = _run([*start, "run", str(tmp_path / "own"), *options, out])
        assert played.returncode == 0, played.stderr
        assert _credited(played.stdout)["baseline"] > 0
