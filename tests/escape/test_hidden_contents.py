"""No job and no agent reads a reference, a cheat or an honest solution from where pip put it.

All wheels of this repository, and a third party's contents, lie in one site-packages directory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTIONS = (".", "packages/contests", "packages/suites", "packages/verifier-bench")
THIRD = {
    "pyproject.toml": """
        [build-system]
        requires = ["hatchling"]
        build-backend = "hatchling.build"
        [project]
        name = "acme-boxes"
        version = "1"
        [project.entry-points."unhack.contests"]
        boxes = "acme_boxes:BOXES"
        [tool.hatch.build.targets.wheel]
        only-include = ["acme_boxes", "acme_module.py"]
    """,
    "acme_boxes/__init__.py": "BOXES = 1\n",
    "acme_boxes/cheats.py": "CHEAT = 1\n",
    "acme_module.py": "REFERENCE = 1\n",
}
HERE = Path(__file__).parent


def pip(*words: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site-packages directory with every wheel."""
    top = tmp_path_factory.mktemp("installed")
    third = top / "third"
    for name, text in THIRD.items():
        path = third / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [line.strip() if name.endswith("toml") else line for line in text.splitlines()]
        path.write_text("\n".join(lines) + "\n")
    sources = [str(ROOT / name) for name in DISTRIBUTIONS]
    wheels = top / "wheels"
    pip("wheel", "--no-deps", "--no-build-isolation", f"--wheel-dir={wheels}", *sources, str(third))
    found = top / "site-packages"
    pip("install", "--no-deps", f"--target={found}", *map(str, sorted(wheels.glob("*.whl"))))
    for folder in (top, *top.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    return found


def run(site: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", *command],
        env={**os.environ, "PYTHONPATH": f"{site}:{HERE}"},
        capture_output=True,
        text=True,
        check=False,
        cwd=site.parent,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_engine_that_runs_is_the_installed_one(site: Path) -> None:
    code = "import unhack, unhack_suites; print(unhack.__file__, unhack_suites.__file__)"
    assert all(word.startswith(str(site)) for word in run(site, "-c", code).split())


@pytest.mark.control
def test_without_a_seal_the_program_finds_contents(site: Path) -> None:
    code = (
        "import json, hidden_contents_run as look\n"
        "import os; walk = os.walk\n"
        f"os.walk = lambda top: walk({str(site)!r})\n"
        "space = {}; exec(look.LOOK, space); print(json.dumps(space['f']()))"
    )
    found = json.loads(run(site, "-c", code))
    assert any(path.endswith("acme_boxes/cheats.py") for path in found)
    assert any(path.endswith("acme_module.py") for path in found)
    listed = {path.name for path in site.rglob("*.py")}
    assert {"cheats.py", "honest.py", "reference.py"} <= listed


@pytest.mark.sample
def test_no_job_and_no_agent_reads_contents(site: Path) -> None:
    seen = json.loads(run(site, str(HERE / "hidden_contents_run.py")))
    assert len(seen) == 21
    assert {name: found for name, found in seen.items() if found} == {}
