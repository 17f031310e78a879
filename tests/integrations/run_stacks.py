"""Runs the tests of each stack in an environment of its own, and writes the page of the results.

    python tests/integrations/run_stacks.py               # all stacks; rewrites the page
    python tests/integrations/run_stacks.py --ci          # those of which `.ci/run` has the time
    python tests/integrations/run_stacks.py trl inspect   # these

A stack is a folder beside this file: its tests, and `stack.toml`:

    title     the name that its users know
    package   distribution whose version the page shows
    source    optional, NAME==VERSION of a package that cannot be installed here: it is unpacked
              alone, its tests find it at the environment variable UNHACK_STACK_SOURCE
    requires  what pip installs beside unhack
    alone     optional, NAME==VERSION of packages that pip installs without what they require, for
              those that pin other versions than constraints.txt
    extras    extras of unhack that its tests need
    free      optional, names whose version in `constraints.txt` the package refuses; "*" for all
    ci        true for the two that `.ci/run` runs: they install, and end, in a minute
    run       what the tests run: the real package, or which source of it is read alone
    unscored  what an item without a verdict becomes there
    how_to    file below docs/how-to

An environment is made once and kept in `.venv/stacks`. Exits with 1 when a test fails or a stack
cannot be installed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import venv
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".venv" / "stacks"
PAGE = ROOT / "docs" / "reference" / "stacks.md"
SOURCE = "UNHACK_STACK_SOURCE"
TEST_TOOLS = ("pytest", "hypothesis")
_COUNT = re.compile(r"(\d+) passed(?:, (\d+) skipped)?")
_ROW = re.compile(r"\| \[(?P<title>[^]]+)\]")


@dataclass(frozen=True)
class Stack:
    """One stack, as its `stack.toml` says."""

    folder: str
    title: str
    package: str
    requires: list[str]
    extras: list[str]
    ci: bool
    run: str
    unscored: str
    how_to: str
    source: str = ""
    free: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return ENVIRONMENTS / self.folder / "bin" / "python"

    def install(self) -> None:
        """Make the environment, unless it has all of this already."""
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        wanted = [*self.requires, *TEST_TOOLS, "--editable", f"{ROOT}{extras}"]
        constraints = self._constraints()
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        contents = [
            *sorted(ROOT.glob("packages/*/pyproject.toml")),
            ROOT / "experiments/pyproject.toml",
        ]
        read = repr([*wanted, *self.alone, self.source, project["entry-points"]]) + constraints
        read += "".join(path.read_text() for path in contents)
        known = hashlib.sha256(read.encode()).hexdigest()
        mark = ENVIRONMENTS / self.folder / ".installed"
        if mark.exists() and mark.read_text() == known:
            return
        venv.EnvBuilder(clear=True, with_pip=True, symlinks=True).create(self.python.parents[1])
        pip = [self.python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        versions = ENVIRONMENTS / self.folder / "constraints.txt"
        versions.write_text(constraints)
        subprocess.run([*pip, "--constraint", versions, *wanted], check=True)
        beside = [word for path in contents for word in ("--editable", str(path.parent))]
        subprocess.run([*pip, "--no-deps", *beside, *self.alone], check=True)
        if self.source:
            self._unpack()
        mark.write_text(known)

    def _constraints(self) -> str:
        if "*" in self.free:
            return ""
        lines = (ROOT / "constraints.txt").read_text().splitlines(keepends=True)
        return "".join(line for line in lines if line.partition("==")[0] not in self.free)

    @property
    def unpacked(self) -> Path:
        """Where its source lies when it is not installed."""
        return ENVIRONMENTS / self.folder / "source"

    def _unpack(self) -> None:
        """Fetch the package without what it needs, for reading alone."""
        pip = [self.python, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
        alone = ["--no-deps", "--no-build-isolation", "--ignore-requires-python"]
        subprocess.run([*pip, *alone, "--dest", self.unpacked, self.source], check=True)
        for archive in self.unpacked.iterdir():
            kind = "zip" if archive.suffix == ".whl" else "gztar"
            shutil.unpack_archive(archive, self.unpacked, kind)

    def version(self) -> str:
        """The version that is installed, or read."""
        if self.source:
            return self.source.partition("==")[2]
        code = f"import importlib.metadata as m; print(m.version({self.package!r}))"
        done = subprocess.run([self.python, "-c", code], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def test(self) -> tuple[bool, str, float]:
        """(True when all passed, the counts, seconds)."""
        started = time.perf_counter()
        command = [self.python, "-m", "pytest", "-m", "slow or not slow", str(HERE / self.folder)]
        variables = {**os.environ, SOURCE: str(self.unpacked)} if self.source else None
        done = subprocess.run(
            command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True, check=False
        )
        print(done.stdout, flush=True)
        found = _COUNT.search(done.stdout)
        counts = found[0] if found else "none passed"
        return done.returncode == 0, counts, time.perf_counter() - started

    def row(self, counts: str, seconds: float) -> str:
        """Its line of the page."""
        name = f"[{self.title}](../how-to/{self.how_to})"
        cells = (name, self.version(), self.run, self.unscored, counts, f"{seconds:.0f} s")
        return "| " + " | ".join(cells) + " |"


def stacks() -> list[Stack]:
    """All that have a `stack.toml`, by folder."""
    return [
        Stack(path.parent.name, **tomllib.loads(path.read_text()))
        for path in sorted(HERE.glob("*/stack.toml"))
    ]


HEAD = """# Stacks

Where unhack plugs in, and what is tested there against the package itself. Written by

```sh
make test-integrations
```

*Unscored* is what becomes of an item that the judge could not score after three tries; it is never
a silent 0. Seconds are those of the tests alone, on two cores, without the installation.

| stack | version | what is run | unscored item | tests | time |
|---|---|---|---|---|---|
"""


def write(rows: dict[str, str]) -> None:
    """Write the page; stacks that were not run keep the line that they have."""
    old = PAGE.read_text().splitlines() if PAGE.exists() else []
    kept = {found["title"]: line for line in old if (found := _ROW.match(line))}
    known = [stack.title for stack in stacks()]
    lines = [line for title in known if (line := rows.get(title) or kept.get(title))]
    PAGE.write_text(HEAD + "\n".join(lines) + "\n")


def run(wanted: list[Stack]) -> tuple[dict[str, str], list[str]]:
    """Install and test: the lines of those that pass by title, and the names of the others. The
    next environment is made while the tests of one run."""
    failed: list[str] = []
    rows: dict[str, str] = {}
    with ThreadPoolExecutor(max_workers=1) as beside:
        made = [beside.submit(stack.install) for stack in wanted]
        for stack, installed in zip(wanted, made, strict=True):
            print(f"== {stack.title}", flush=True)
            try:
                installed.result()
            except subprocess.CalledProcessError:
                failed.append(f"{stack.folder} (not installed)")
                continue
            passed, counts, seconds = stack.test()
            if passed:
                rows[stack.title] = stack.row(counts, seconds)
            else:
                failed.append(stack.folder)
    return rows, failed


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="folders of stacks; all by default")
    parser.add_argument("--ci", action="store_true", help="those that .ci/run runs")
    options = parser.parse_args()
    unknown = set(options.names) - {stack.folder for stack in stacks()}
    if unknown:
        parser.error(f"no such stack: {', '.join(sorted(unknown))}")
    wanted = [
        stack
        for stack in stacks()
        if not (options.names and stack.folder not in options.names)
        and (stack.ci or not options.ci)
    ]
    rows, failed = run(wanted)
    if not options.ci:
        write(rows)
    print(f"{len(rows)} passed, {len(failed)} failed" + "".join(f"\n{one}" for one in failed))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
