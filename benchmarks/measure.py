"""Shared by the benchmark scripts: the machine's name, medians, and the files of results.

A result is two files. `results/NAME.json` is a summary, kept in git and at most 10 KB: the figures
that pages need, the command and the machine. `results/full/NAME.json`, which git ignores, is the
full record; the summary holds its SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
FULL = RESULTS / "full"
MAX_SUMMARY_BYTES = 10_240


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory / (1 << 30)),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "load_before": round(os.getloadavg()[0], 2),
    }


def host(found: dict[str, Any] | None = None) -> str:
    """A machine in words; this one unless `found` is one of `machine`."""
    here = found or machine()
    return (
        f"{here['cores']} cores of {here['cpu']}, {here['memory_gib']} GiB, "
        f"Linux {here['kernel']}, Python {here['python']}"
    )


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, minimum and maximum."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def show(name: str, values: Sequence[float], *, unit: str, digits: int = 1) -> str:
    """One line for people."""
    found = spread(values)
    low, high = found["min"], found["max"]
    return (
        f"{name:42} {found['median']:10.{digits}f} {unit}  [{low:.{digits}f} … {high:.{digits}f}]"
    )


def save(
    name: str,
    command: str,
    figures: dict[str, Any],
    *,
    records: dict[str, Any] | None = None,
    ran_on: str = "",
) -> None:
    """Write the summary and, where there are `records`, the full record of figures and records.

    `ran_on` names the machines where they are not this one. Raises ValueError for a summary over
    `MAX_SUMMARY_BYTES`.
    """
    document = {"command": command, "machine": ran_on or machine(), **figures}
    if records is None:
        write_summary(name, document)
        return
    FULL.mkdir(parents=True, exist_ok=True)
    full = (json.dumps({**document, **records}, indent=1) + "\n").encode()
    (FULL / f"{name}.json").write_bytes(full)
    write_summary(name, {**document, "full_record": identity(full)})
    print(f"written: benchmarks/results/full/{name}.json")


def identity(full: bytes) -> dict[str, Any]:
    """SHA-256 and size of a full record, as a summary holds them."""
    return {"sha256": hashlib.sha256(full).hexdigest(), "bytes": len(full)}


def write_summary(name: str, document: dict[str, Any]) -> None:
    """Write `results/NAME.json`; raises ValueError over `MAX_SUMMARY_BYTES`."""
    lines = ",\n".join(f" {json.dumps(key)}: {_block(value)}" for key, value in document.items())
    data = f"{{\n{lines}\n}}\n".encode()
    if len(data) > MAX_SUMMARY_BYTES:
        raise ValueError(f"{name}: {len(data)} bytes of summary, {MAX_SUMMARY_BYTES} allowed")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_bytes(data)
    print(f"written: benchmarks/results/{name}.json")


def _block(value: Any) -> str:
    """JSON on one line, or one line for each item where that is long."""
    line = json.dumps(value)
    if len(line) <= 96 or not isinstance(value, (list, dict)):
        return line
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {json.dumps(item)}" for key, item in value.items()]
        return "{\n  " + ",\n  ".join(items) + "\n }"
    return "[\n  " + ",\n  ".join(json.dumps(item) for item in value) + "\n ]"


def summary(name: str) -> dict[str, Any] | None:
    """A result's summary, or None while nobody has run its script."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def full_record(name: str) -> dict[str, Any] | None:
    """A result's full record where it lies on this machine, else None."""
    path = FULL / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def table(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> list[list[Any]]:
    """Rows below a row that names the columns, so that names stand once; numbers to four digits."""
    return [list(columns), *([_short(row.get(column)) for column in columns] for row in rows)]


def _short(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def rows_of(found: list[list[Any]]) -> list[dict[str, Any]]:
    """The rows of a `table`, by column."""
    columns, *rows = found
    return [dict(zip(columns, row, strict=True)) for row in rows]
