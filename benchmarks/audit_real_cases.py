"""The functions that `audit_real.py` audits, with their rows, and the environment they live in."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from audit_real_problems import ITEMS, PROBLEMS, ROWS

HERE = Path(__file__).resolve().parent
VENV = HERE / ".audit-venv"
ADAPTERS = "adapter:"
"""Begins a target that is called through a file in `adapters`."""
LISTS: tuple[dict[str, Any], ...] = tuple(
    tomllib.loads((HERE / name).read_text())
    for name in ("audit_real.toml", "audit_real_scorers.toml", "audit_real_environments.toml")
)
GYM = "reasoning-gym"
INSTALL_LIMIT = 300.0
EXAMPLES = ("possible_answer", "example_answer", "example_correct_answer")
"""Where a reasoning-gym entry has a right answer when several are right."""


@dataclass(frozen=True)
class Case:
    """One reward function."""

    package: str
    target: str
    kind: str
    signature: str = ""
    listed: int = 0
    """Which of `LISTS` it is in."""

    @property
    def name(self) -> str:
        """For people and for `--one`."""
        return f"{self.package} {self.target} {self.kind}"


def cases() -> list[Case]:
    """All targets, the packages in turn, so that a short run sees something of each."""
    groups = [
        [Case(package, *row, listed=place) for row in rows]
        for place, listed in enumerate(LISTS)
        for package, rows in listed["targets"].items()
    ]
    groups.append([Case(GYM, name, "gym") for name in LISTS[0]["reasoning_gym"]])
    return [case for turn in zip_longest(*groups) for case in turn if case is not None]


# The environment.


def prepare() -> tuple[Path, dict[str, str]]:
    """(the interpreter, why a package is not there); builds what is missing."""
    python = VENV / "bin" / "python"
    if not python.exists():
        venv.EnvBuilder(symlinks=True, with_pip=False).create(VENV)
    (VENV / ".gitignore").write_text("*\n")
    failed: dict[str, str] = {}
    there = _installed(python)
    if "unhack" not in there:
        _install(python, "-e", str(HERE.parent))
    for package in _named("dependencies"):
        if package.lower() not in there and (why := _install(python, package)):
            failed[package] = why
    for package in _named("packages"):
        if package.lower() not in there and (why := _install(python, "--no-deps", package)):
            failed[package] = why
    return python, failed


def _named(key: str) -> list[str]:
    return list(dict.fromkeys(name for listed in LISTS for name in listed[key]))


def _installed(python: Path) -> set[str]:
    code = "import importlib.metadata as m; print(*(d.name for d in m.distributions()))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return {name.lower().replace("_", "-") for name in done.stdout.split()}


def _install(python: Path, *what: str) -> str:
    """Empty when it worked, else pip's last line."""
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    try:
        done = subprocess.run(
            [*pip, "install", "--quiet", *what],
            capture_output=True, text=True, timeout=INSTALL_LIMIT, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"not installed in {INSTALL_LIMIT:.0f} s"
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["failed"])[-1]


# The problems.


def problems_of(case: Case) -> tuple[str, list[dict[str, Any]]]:
    """(target, rows as a user would write them into a JSONL file)."""
    if case.kind == "gym":
        return _gym_rows(case.target)
    target = case.target
    if target.startswith(ADAPTERS):
        target = str(HERE / "adapters" / target.removeprefix(ADAPTERS))
    return target, list(_rows_of(case))


def _rows_of(case: Case) -> Iterator[dict[str, Any]]:
    listed = LISTS[case.listed]
    spec = listed["kinds"][case.kind]
    yield from ROWS[spec["rows"]] if "rows" in spec else ()
    for prompt, answer in ITEMS[spec["items"]] if "items" in spec else ():
        row: dict[str, Any] = {"prompt": prompt, "answer": answer}
        columns = _filled(spec.get("columns", {}), answer)
        if spec.get("truth") == "list":
            columns["ground_truth"] = {"target": [answer]}
        yield {**row, **columns, "correct": _filled(spec["forms"], answer)}


def _filled(value: Any, answer: str) -> Any:
    if isinstance(value, str):
        return value.replace("{answer}", answer)
    if isinstance(value, list):
        return [_filled(item, answer) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, answer) for key, item in value.items()}
    return value


def _gym_rows(name: str) -> tuple[str, list[dict[str, Any]]]:
    """(target, rows) of a reasoning-gym data set, drawn with a fixed seed."""
    import reasoning_gym

    data = reasoning_gym.create_dataset(name, seed=7, size=PROBLEMS)
    rows: list[dict[str, Any]] = []
    for entry in data:
        answers = [entry["answer"], *(entry["metadata"].get(key) for key in EXAMPLES)]
        answer = next((str(one) for one in answers if one is not None), None)
        if answer is not None:
            row = {"prompt": entry["question"], "answer": answer, "correct": [answer]}
            rows.append({**row, "entry": entry})
    kind = type(data)
    return f"{kind.__module__}:{kind.__name__}.score_answer", rows


def file_of(target: str) -> str:
    """`pkg.mod:f` as `.../pkg/mod.py:f`."""
    module, _, entry = target.partition(":")
    base = Path(sysconfig.get_path("purelib")).joinpath(*module.split("."))
    file = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    return f"{file}:{entry}"
