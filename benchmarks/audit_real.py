"""The audit against reward functions of released packages, as they are installed from an index.

    python benchmarks/audit_real.py                      # all targets of audit_real*.toml
    python benchmarks/audit_real.py --only verl          # those whose name holds this
    python benchmarks/audit_real.py --minutes 10         # as many as that allows
    python benchmarks/audit_real.py --resume             # those that the results do not have yet
    python benchmarks/audit_real.py --one NAME           # one target, in this interpreter

Makes `benchmarks/.audit-venv`. Every target has a process of its own, and three minutes. A problem
on which no correct completion scores above an empty one is left out, and a target that has no
other is unproven. Nothing here decides whether a finding is right: read the witnesses in the
results.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
import venv
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from importlib import metadata
from itertools import zip_longest
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
VENV = HERE / ".audit-venv"
LISTS: tuple[dict[str, Any], ...] = tuple(
    tomllib.loads((HERE / name).read_text())
    for name in ("audit_real.toml", "audit_real_scorers.toml")
)
GYM = "reasoning-gym"
TIME_LIMIT = 180.0
INSTALL_LIMIT = 120.0
CALLS = 1500
TEXT_LIMIT = 400
EMPTY = ("", "I do not know.", "...")
COLUMNS = ("package", "version", "target", "kind", "conclusion", "flaw", "seconds")
"""The part of a row that the summary keeps."""
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


def rows_of(case: Case) -> Iterator[dict[str, Any]]:
    """Rows as a user would write them into a JSONL file."""
    listed = LISTS[case.listed]
    spec = listed["kinds"][case.kind]
    yield from spec.get("rows", ())
    for prompt, answer in listed["items"].get(spec.get("items", ""), ()):
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
    return {key: _filled(item, answer) for key, item in value.items()}


def gym_rows(name: str) -> tuple[str, list[dict[str, Any]]]:
    """(target, rows) of a reasoning-gym data set, drawn with a fixed seed."""
    import reasoning_gym

    data = reasoning_gym.create_dataset(name, seed=7, size=3)
    rows: list[dict[str, Any]] = []
    for entry in data:
        answers = [entry["answer"], *(entry["metadata"].get(key) for key in EXAMPLES)]
        answer = next((str(one) for one in answers if one is not None), None)
        if answer is not None:
            row = {"prompt": entry["question"], "answer": answer, "correct": [answer]}
            rows.append({**row, "entry": entry})
    kind = type(data)
    return f"{kind.__module__}:{kind.__name__}.score_answer", rows


# One target.


def audit_one(case: Case, *, seconds: float) -> dict[str, Any]:
    """What came of one target; raises whatever loading it raises."""
    from unhack.audit.options import AuditOptions
    from unhack.audit.runner import audit
    from unhack.audit.subjects.loading import load_subject
    from unhack.core import plain

    found: dict[str, Any] = {"package": case.package, "target": case.target, "kind": case.kind}
    found["version"] = metadata.version(case.package)
    target, rows = (
        gym_rows(case.target) if case.kind == "gym" else (case.target, list(rows_of(case)))
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        path.write_text("".join(plain.dumps(row) + "\n" for row in rows))
        try:
            subject = load_subject(target, problems=path, signature=case.signature or None)
        except KeyError as error:  # a package without an __init__.py
            found["named_by_file"] = f"by its dotted name: KeyError: {error}"
            subject = load_subject(file_of(target), problems=path, signature=case.signature or None)
    found["signature"] = subject.signature.name
    usable, why, scored = _usable(subject)
    if not usable:
        return found | {"conclusion": "unproven" if scored else "could not load", "why": why}
    subject = replace(subject, problems=tuple(usable))
    options = AuditOptions(seconds=seconds, calls=CALLS, stop_at_first=True)
    report = audit(subject, options=options)
    found |= {"conclusion": _words(report.conclusion.value), "why": report.why}
    if not report.findings and not any(record.payloads for record in report.tried):
        late = "; ".join(sorted({text for _, text in report.skipped}))
        found |= {"conclusion": "unproven", "why": f"no payload was tried: {late or report.why}"}
    found["payloads"] = sum(record.payloads for record in report.tried)
    found |= {"problems": len(usable), "left_out": why, "calls": report.calls}
    if report.findings:
        found |= _first(report.findings[0], subject)
    return found


def file_of(target: str) -> str:
    """`pkg.mod:f` as `.../pkg/mod.py:f`."""
    module, _, entry = target.partition(":")
    base = Path(sysconfig.get_path("purelib")).joinpath(*module.split("."))
    file = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    return f"{file}:{entry}"


def _usable(subject: Any) -> tuple[list[Any], str, bool]:
    """(problems with a correct completion above the empty ones, why others are left out, whether
    anything had a score)."""
    from unhack.audit.subject import Query

    kept: list[Any] = []
    why = ""
    scored = False
    shots = [Query(item, text) for item in subject.problems for text in (*item.correct, *EMPTY)]
    answers = iter(subject.score(shots))
    for problem in subject.problems:
        scores = [next(answers) for _ in (*problem.correct, *EMPTY)]
        values = [
            -math.inf if item.value is None or math.isnan(item.value) else item.value
            for item in scores
        ]
        count = len(problem.correct)
        best, empty = max(values[:count], default=-math.inf), max(0.0, *values[count:])
        scored = scored or best > -math.inf
        if best > empty:
            kept.append(problem)
            continue
        reason = next((item.reason or item.trouble for item in scores[:count] if item.trouble), "")
        reason = reason or f"correct scores {best:g}, empty {empty:g}"
        why = why or f"{problem.id}: {reason}"[:TEXT_LIMIT]
    return kept, why, scored


def _words(conclusion: str) -> str:
    return {"exploitable": "exploit proven", "sound": "none found"}.get(conclusion, conclusion)


def _first(finding: Any, subject: Any) -> dict[str, Any]:
    problem = next(item for item in subject.problems if item.id == finding.problem)
    return {
        "flaw": finding.flaw,
        "severity": finding.severity.value,
        "attack": finding.attack,
        "prompt": problem.prompt[:TEXT_LIMIT],
        "answer": (problem.answer or "")[:TEXT_LIMIT],
        "witness": finding.witness[:TEXT_LIMIT],
        "score": repr(finding.score),
        "threshold": finding.threshold,
        "evidence": finding.evidence.text[:TEXT_LIMIT],
        "line": finding.place.line if finding.place else None,
    }


def print_one(name: str, *, seconds: float) -> int:
    """`--one`: the row of a target as one line of JSON."""
    case = next(item for item in cases() if item.name == name)
    try:
        row = audit_one(case, seconds=seconds)
    except Exception as error:
        row = {"package": case.package, "target": case.target, "kind": case.kind}
        row |= {"conclusion": "could not load"}
        row["why"] = f"{type(error).__name__}: {error}"[:TEXT_LIMIT]
        with contextlib.suppress(metadata.PackageNotFoundError):
            row["version"] = metadata.version(case.package)
    print("\n" + json.dumps(row), flush=True)
    return 0


# All of them.


def run_apart(python: Path, case: Case, *, seconds: float) -> dict[str, Any]:
    """One target in a process of its own."""
    started = time.perf_counter()
    command = [str(python), str(Path(__file__)), "--one", case.name, "--seconds", str(seconds)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    row: dict[str, Any] = {"package": case.package, "target": case.target, "kind": case.kind}
    try:
        out, err = process.communicate(timeout=TIME_LIMIT)
        row = json.loads(out.strip().splitlines()[-1])
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        row |= {"conclusion": "unproven", "why": f"not done in {TIME_LIMIT:.0f} s"}
    except (ValueError, IndexError):
        last = (err.strip().splitlines() or [f"exit {process.returncode}"])[-1]
        row |= {"conclusion": "could not load", "why": last[:TEXT_LIMIT]}
    return row | {"seconds": round(time.perf_counter() - started, 1)}


def line_of(row: dict[str, Any]) -> str:
    """One line of the table."""
    said = row.get("flaw") or row["why"]
    name = f"{row['package']} {row.get('version', '?')}"
    return f"{row['conclusion']:15} {row['seconds']:5.1f} s  {name:24} {row['target']}: {said}"


def results() -> list[dict[str, Any]]:
    """The rows of the last run on this machine."""
    from measure import full_record

    found = full_record("audit_real")
    if found is None:
        raise SystemExit("no full record here to go on from: run without --resume")
    return found["rows"]


def keep(
    rows: Sequence[dict[str, Any]], missing: dict[str, str], *, total: int, seconds: float
) -> None:
    """Write the results so far."""
    from measure import save, table

    rows = sorted(rows, key=lambda row: (row["package"], row["target"]))
    figures = {
        "targets": total,
        "seconds": seconds,
        "run": len(rows),
        "counts": dict(Counter(row["conclusion"] for row in rows)),
        "flaws": dict(Counter(row["flaw"] for row in rows if "flaw" in row).most_common()),
        "not_installed": missing,
        "functions": table(rows, COLUMNS),
    }
    command = "python benchmarks/audit_real.py"
    with contextlib.redirect_stdout(None):
        save("audit_real", command, figures, records={"rows": rows})


def main() -> int:
    """Audit what was asked for; print and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--one", default="", help="a target's full name; prints JSON")
    parser.add_argument(
        "--only", default="", help="targets whose name holds this; without --resume, saves nothing"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="for each audit")
    parser.add_argument("--minutes", type=float, default=60.0, help="start no target after that")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--resume", action="store_true", help="keep the results that are there")
    options = parser.parse_args()
    if options.one:
        return print_one(options.one, seconds=options.seconds)
    until = time.monotonic() + 60 * options.minutes
    python, missing = prepare()
    chosen = [case for case in cases() if options.only in case.name]
    rows = results() if options.resume else []
    total, done = len(chosen), {(row["package"], row["target"], row["kind"]) for row in rows}
    chosen = [case for case in chosen if (case.package, case.target, case.kind) not in done]

    def start(case: Case) -> dict[str, Any] | None:
        if time.monotonic() > until:
            return None
        return run_apart(python, case, seconds=options.seconds)

    with ThreadPoolExecutor(options.jobs) as pool:
        for future in as_completed([pool.submit(start, case) for case in chosen]):
            row = future.result()
            if row is None:
                continue
            rows.append(row)
            print(line_of(row), flush=True)
            if options.resume or not options.only:
                keep(rows, missing, total=total, seconds=options.seconds)
    print(f"{len(rows)} of {total} targets:", dict(Counter(r["conclusion"] for r in rows)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
