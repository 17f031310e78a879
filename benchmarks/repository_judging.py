"""Own suites of real packages judged by `RepositoryVerifier` and by plain pytest.

python benchmarks/repository_judging.py FOLDER [--only NAME ...] [--tests N] [--mutants N]

FOLDER holds unpacked source archives, as `pip download --no-binary :all: --no-deps NAME` gives
them; `repository_judging.toml` says which tests and modules of each are taken. Tests that pass
under plain pytest are the expected ones. Those that the untouched package passes sealed are judged
sealed; of the others a sample of at most N (at most two rows of a test, spread evenly) is judged as
written, beside twins. Tests that the untouched package does not pass there either are named and
left out. Then each mutant (`audit.search.mutation`) is judged both ways: it passes when all
tests do.

Mutants run under plain pytest without isolation, in a process of their own under a time and a
memory limit.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import RESULTS, save
from unhack import Limits, Pool, Problem, Task, Verdict, run_batch
from unhack.audit.search.mutation.mutants import mutants
from unhack.core.errors import BatchUnscoredError
from unhack.core.verdict import CaseResult
from unhack.sandbox.limits import MIB
from unhack.verifiers.repository import RepositoryVerifier, pack_files
from unhack.verifiers.script import Mode

TABLE = Path(__file__).with_suffix(".toml")
LIMITS = Limits(wall_s=90, cpu_s=90, memory_bytes=1536 * MIB, open_files=256, output_bytes=8 * MIB)
PLAIN_TIMEOUT_S = 240.0
MAX_FILE_BYTES = 400_000
SEED = 16
PLUGIN = """
import json, os
passed = {}

def pytest_runtest_logreport(report):
    good = report.passed and not hasattr(report, "wasxfail")
    passed[report.nodeid] = passed.get(report.nodeid, report.when == "setup") and good

def pytest_sessionfinish():
    with open(os.environ["PLAIN_REPORT"], "w") as file:
        json.dump(passed, file)
"""


@dataclass(frozen=True)
class Package:
    """One package of the table, as it was unpacked."""

    name: str
    files: dict[str, bytes]
    tests: tuple[str, ...]
    modules: tuple[str, ...]
    preload: tuple[str, ...]

    @property
    def editable(self) -> tuple[str, ...]:
        """The folder of the package."""
        first = self.modules[0].split("/")
        return ("/".join(first[: 2 if first[0] == "src" else 1]) + "/",)


def read_package(folder: Path, row: dict[str, Any]) -> Package:
    """The files of an unpacked package, with the metadata that an installed one has."""
    found = sorted(folder.glob(f"{row['name']}-*"))
    if not found:
        raise SystemExit(f"no folder {row['name']}-* in {folder}; see --help")
    top = found[-1]
    files: dict[str, bytes] = {}
    for path in sorted(top.rglob("*")):
        name = path.relative_to(top).as_posix()
        kept = not name.startswith(
            ("docs/", "changelog", "downstream/", "examples/", "benchmarks/")
        )
        if path.is_file() and kept and path.stat().st_size < MAX_FILE_BYTES and name.isascii():
            files[name] = path.read_bytes()
    version = top.name.rpartition("-")[2]
    metadata = files.get("PKG-INFO", b"Metadata-Version: 2.1\n")
    files[f"{row['name'].replace('python_', '')}-{version}.dist-info/METADATA"] = metadata
    return Package(
        row["name"], files, tuple(row["tests"]), tuple(row["modules"]),
        tuple(row.get("preload", ())),
    )  # fmt: skip


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))


def plain_pytest(
    package: Package, changed: dict[str, str], tests: Sequence[str]
) -> tuple[dict[str, bool], float]:
    """Id -> passed, of plain pytest on a copy; and the CPU seconds that it took."""
    with tempfile.TemporaryDirectory(prefix="plain-") as place:
        top = Path(place) / "repository"
        for name, data in {
            **package.files,
            **{path: text.encode() for path, text in changed.items()},
        }.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_bytes(data)
        (Path(place) / "plain_report.py").write_text(PLUGIN)
        report = Path(place) / "report.json"
        environ = {
            "PATH": os.environ["PATH"], "HOME": place, "PLAIN_REPORT": str(report),
            "PYTHONPATH": f"{top}/src:{top}:{place}", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8",
        }  # fmt: skip
        argv = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", str(top)]
        argv += ["-p", "no:cacheprovider", "-p", "plain_report", *tests]
        argv += ["--continue-on-collection-errors"]
        started = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        try:
            subprocess.run(
                argv, cwd=top, env=environ, timeout=PLAIN_TIMEOUT_S, check=False,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=_limit_memory,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {}, PLAIN_TIMEOUT_S
        cpu_s = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - started
        return (json.loads(report.read_text()) if report.exists() else {}), cpu_s


def sample(ids: Sequence[str], most: int) -> tuple[str, ...]:
    """At most `most` ids, spread evenly, of a test at most two rows."""
    rows: dict[str, list[str]] = {}
    for name in ids:
        rows.setdefault(name.partition("[")[0], []).append(name)
    few = [name for group in rows.values() if len(group) <= 20 for name in group[:2]]
    if len(few) <= most:
        return tuple(few)
    return tuple(few[round(index * len(few) / most)] for index in range(most))


def verifier_of(package: Package, expected: Sequence[str], mode: Mode) -> RepositoryVerifier:
    """The judge of a package's own suite."""
    files = dict.fromkeys(name.partition("::")[0] for name in expected)
    return RepositoryVerifier(
        {path: package.files[path].decode() for path in files},
        package.files,
        package.editable,
        tuple(expected),
        mode,
        preload=package.preload,
        limits=LIMITS,
    )


def judge(pool: Pool, verifier: RepositoryVerifier, completions: list[str]) -> list[Verdict]:
    """Verdicts, with the untouched package as reference; what is unscored is among them."""
    task = Task(Problem("package", "", reference=pack_files({})), verifier)
    try:
        return list(run_batch(task, completions, backend=pool, dedupe=False).verdicts)
    except BatchUnscoredError as error:
        return list(error.batch.verdicts)


def choose(
    pool: Pool, package: Package, passing: Sequence[str], most: int
) -> tuple[list[RepositoryVerifier], dict[str, Any]]:
    """The judges of a package, and figures: sealed where that passes the untouched package."""
    try:
        [found] = judge(pool, verifier_of(package, passing, Mode.SEALED), [pack_files({})])
        by_name = dict(zip(passing, found.cases, strict=False))
    except ValueError:  # a package that the judge itself imports
        by_name: dict[str, CaseResult] = {}
    inside = [name for name, case in by_name.items() if case.passed]
    judges = [verifier_of(package, inside, Mode.SEALED)] if inside else []
    facts: dict[str, Any] = {"plain": len(passing), "sealed": len(inside), "beside_twins": 0}
    left = [name for name in passing if name not in inside]
    chosen = sample(left, most)
    facts["not_sampled"] = len(left) - len(chosen)
    while chosen:
        try:
            judged = verifier_of(package, chosen, Mode.AS_WRITTEN)
        except ValueError:  # not one expectation that can be changed
            facts["not_sampled"] += len(chosen)
            break
        [verdict] = judge(pool, judged, [pack_files({})])
        named = list(zip(chosen, verdict.cases, strict=True))
        chosen = tuple(name for name, case in named if case.passed)
        if len(chosen) == len(named):
            facts |= {name: verdict.details[name] for name in ("twins", "untwinned")}
            facts["beside_twins"] = len(chosen)
            judges.append(judged)
            break
        for name, case in named:
            if not case.passed:
                print(f"  left out: {name}: {case.reason[:140]}", flush=True)
        facts["left_out"] = facts.get("left_out", 0) + len(named) - len(chosen)
    return judges, facts


def faults(package: Package, count: int) -> list[dict[str, str]]:
    """Mutants of the modules in turn: changed files."""
    queues = [
        [(path, mutant.source) for mutant in mutants(text, limit=count, seed=SEED)]
        for path in package.modules
        if "```" not in (text := package.files[path].decode())
    ]
    found: list[dict[str, str]] = []
    for place in range(count):
        found += [dict([queue[place]]) for queue in queues if place < len(queue)]
    return found[:count]


def compare(pool: Pool, package: Package, *, most: int, count: int) -> dict[str, Any]:
    """One package: tests by mode, verdict on the reference, agreement over the mutants."""
    plain, plain_s = plain_pytest(package, {}, package.tests)
    judges, facts = choose(pool, package, [name for name, passed in plain.items() if passed], most)
    changes = faults(package, count)
    completions = [pack_files({}), *(pack_files(one) for one in changes)]
    verdicts = [judge(pool, verifier, completions) for verifier in judges]
    scores = [min((one.score or 0.0) for one in both) for both in zip(*verdicts, strict=True)]
    expected = [name for verifier in judges for name in verifier.expected]
    wanted = list(dict.fromkeys(name.partition("::")[0] for name in expected))
    with ThreadPoolExecutor(2) as threads:
        pending = [threads.submit(plain_pytest, package, one, wanted) for one in changes]
        plains = [one.result()[0] for one in pending]
    same, survived = 0, 0
    for place, (change, found) in enumerate(zip(changes, plains, strict=True), start=1):
        failed = [name for name in expected if not found.get(name, False)]
        survived += not failed
        same += scores[place] == float(not failed)
        if scores[place] != float(not failed):
            words = [both[place].reason[:200] for both in verdicts]
            print(
                f"  differs in {next(iter(change))}: plain fails {failed[:2]}: {words}", flush=True
            )
    return {
        "package": package.name,
        **facts,
        "reference": "passed" if scores[0] == 1.0 else "failed",
        "mutants": len(changes),
        "same": same,
        "survived_plain": survived,
        "unscored": sum(one.score is None for both in verdicts for one in both),
        "plain_cpu_s": round(plain_s, 2),
        "candidate_cpu_s": [round(both[0].usage.cpu_s, 2) for both in verdicts],
    }


def save_figures(found: list[dict[str, Any]], tests: int) -> None:
    """Save these packages beside those that earlier runs saved."""
    earlier = RESULTS / "repository_judging.json"
    names = {one["package"] for one in found}
    text = earlier.read_text() if earlier.exists() else "{}"
    kept: list[dict[str, Any]] = json.loads(text).get("packages", [])
    packages = [*found, *(one for one in kept if one["package"] not in names)]
    packages.sort(key=lambda one: one["package"])
    figures = {
        "packages": packages,
        "mutants": sum(one["mutants"] for one in packages),
        "same": sum(one["same"] for one in packages),
    }
    command = f"python benchmarks/repository_judging.py FOLDER --tests {tests} --save"
    save("repository_judging", command, figures)


def main() -> None:
    """Compare every package of the table, and save the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--tests", type=int, default=16)
    parser.add_argument("--mutants", type=int, default=20)
    parser.add_argument(
        "--save", action="store_true", help="packages that are not run now keep their figures"
    )
    options = parser.parse_args()
    rows = tomllib.loads(TABLE.read_text())["package"]
    found: list[dict[str, Any]] = []
    with contextlib.closing(Pool(slots=2)) as pool:
        for row in rows:
            if options.only and row["name"] not in options.only:
                continue
            package = read_package(options.folder, row)
            found.append(compare(pool, package, most=options.tests, count=options.mutants))
            print(json.dumps(found[-1]), flush=True)
            if options.save:
                save_figures(found, options.tests)


if __name__ == "__main__":
    main()
