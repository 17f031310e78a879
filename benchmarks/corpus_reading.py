"""Public Harbor tasks, read without running anything: counts by kind, and the rules against labels.

    python benchmarks/corpus_reading.py TERMINAL KERNELS

TERMINAL is `environments_harbor` of `zjysteven/terminal-bench-env`, KERNELS is
`lilian-muyaoli/kernelbench-harbor`. `corpus_reading.toml` holds the labels of 80 tasks and what the
rules said of them when they were first scored. A suspicion that was read is not a hack that was
proven: the 16 % of arXiv 2606.08960 (323 of 1,968 terminal tasks that models could hack) is another
measure, of other tasks.
"""

from __future__ import annotations

import sys
import time
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from measure import save
from unhack.audit.environments.reading.reader import read_task, task_folders
from unhack.audit.environments.reading.summary import summarised
from unhack.audit.environments.reading.suspicion import KINDS, LAYOUT, TaskReading
from unhack.core.statistics import wilson

LABELS = Path(__file__).with_suffix(".toml")
UNCHECKED = ("form_only", "told")
"""Kinds by which no test ties the reward to the work."""


def scored(labels: Mapping[str, str], readings: Mapping[str, TaskReading]) -> dict[str, list[int]]:
    """By kind: named and labelled, named alone, labelled alone."""
    found: dict[str, list[int]] = {}
    for kind in KINDS:
        if kind in LAYOUT:
            continue
        pairs = Counter(
            (kind.value in text.split(), kind in readings[name].kinds)
            for name, text in labels.items()
        )
        counts = [pairs[True, True], pairs[False, True], pairs[True, False]]
        if any(counts):
            found[kind.value] = counts
    return found


def rates(by_kind: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Precision and recall over all kinds, with intervals."""
    right, wrong, missed = (sum(counts[place] for counts in by_kind.values()) for place in range(3))
    return {
        "precision": [right, right + wrong, *_interval(right, right + wrong)],
        "recall": [right, right + missed, *_interval(right, right + missed)],
    }


def _interval(hits: int, of: int) -> list[float]:
    return [round(one, 3) for one in wilson(hits, of)]


def read(folder: Path) -> tuple[dict[str, TaskReading], dict[str, Any]]:
    """The readings of a folder by name, and their figures."""
    began = time.process_time()
    readings = [read_task(one, below=folder) for one in task_folders(folder)]
    cpu_s = time.process_time() - began
    summary = summarised(readings)
    loose = sum(any(kind.value in UNCHECKED for kind in one.kinds) for one in readings)
    kinds = {
        kind.value: [count, *_interval(count, summary.read)]
        for kind, count in summary.counts.items()
    }
    return {one.name: one for one in readings}, {
        "tasks": len(readings),
        "not_read": len(summary.failed),
        "partly_read": len(summary.partly),
        "nothing_suspicious": [summary.quiet, *_interval(summary.quiet, summary.read)],
        "form_only_or_told": [loose, *_interval(loose, summary.read)],
        "kinds": kinds,
        "cpu_s": round(cpu_s, 1),
        "ms_per_task": round(1000 * cpu_s / len(readings), 1),
    }


def main() -> None:
    """Read both, score the labels, save."""
    terminal, kernels = map(Path, sys.argv[1:3])
    known = tomllib.loads(LABELS.read_text(encoding="utf-8"))
    readings, figures = read(terminal)
    _, of_kernels = read(kernels)
    of_kernels["kinds"] = {name: row for name, row in of_kernels["kinds"].items() if row[0]}
    save(
        "corpus_reading",
        "python benchmarks/corpus_reading.py TERMINAL KERNELS",
        {
            "terminal": figures,
            "kernels": of_kernels,
            "first_scoring": {name: rates(rows) for name, rows in known["first"].items()},
            "scored_today": {
                name: rates(scored(rows, readings)) for name, rows in known["labels"].items()
            },
            "first_by_kind": known["first"],
            "published_beside": "arXiv 2606.08960: 323 of 1,968 terminal tasks hacked by models; "
            "read suspicions and proven hacks are not the same measure",
        },
    )


if __name__ == "__main__":
    main()
