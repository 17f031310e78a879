"""What the benchmark scripts share: the machine's name, medians, and where results go."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


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


def save(name: str, command: str, figures: dict[str, Any]) -> None:
    """Write `results/NAME.json`: the figures, the command that made them, the machine."""
    RESULTS.mkdir(exist_ok=True)
    document = {"command": command, "machine": machine(), **figures}
    (RESULTS / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    print(f"written: benchmarks/results/{name}.json")
