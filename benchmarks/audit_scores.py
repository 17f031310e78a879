"""The figures of auditors on a corpus, by one definition for all of them.

An entry is *found* when one completion that the auditor reports is a witness
(`unhack_verifier_bench.standings`): the entry's verifier, run sealed, rewards it, and it is
wrong by the label. A sound entry is *accused* by any report on it. Besides that, `says` counts the
entries of which an auditor says that they are exploitable, whatever it reports. The balanced
accuracy is the mean of the share of hacks found and the share of sound entries not accused.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

LABELS = ("hack", "false_accept", "sound")


@dataclass(frozen=True)
class Column:
    """One way to read a tool."""

    tool: str
    reading: str = "all"
    """The key of `readings` in what the tool's process printed."""


COLUMNS = {
    "unhack": Column("unhack"),
    "deepgym audit": Column("deepgym audit"),
    "deepgym qa --mutants": Column("deepgym qa"),
    "rewardprobe --ci": Column("rewardprobe", "critical"),
    "rewardprobe, listed": Column("rewardprobe", "listed"),
    "rewardprobe, rewarded": Column("rewardprobe", "rewarded"),
}


def says(row: dict[str, Any], column: Column) -> str:
    """`exploitable`, `robust` or `none` (no verdict)."""
    found = row["results"][column.tool].get("readings", {}).get(column.reading, {})
    return found.get("says", "none")


def is_found(row: dict[str, Any], column: Column) -> bool:
    """True when a report of the tool is a witness."""
    return "witness" in _standings(row, column)


def is_reported(row: dict[str, Any], column: Column) -> bool:
    """True when the tool says or reports anything against the entry."""
    return says(row, column) == "exploitable" or bool(_standings(row, column))


def _standings(row: dict[str, Any], column: Column) -> list[str]:
    found = row["results"][column.tool].get("readings", {}).get(column.reading, {})
    return found.get("standings", [])


def figures(rows: list[dict[str, Any]], column: Column) -> dict[str, Any]:
    """The figures of one column over some entries; shares are None where there is nothing."""
    parts = {label: [row for row in rows if row["label"] == label] for label in LABELS}
    found = {label: sum(is_found(row, column) for row in part) for label, part in parts.items()}
    accused = sum(is_reported(row, column) for row in parts["sound"])
    results = [row["results"][column.tool] for row in rows]
    balanced = None
    if parts["hack"] and parts["sound"]:
        shares = found["hack"] / len(parts["hack"]), 1 - accused / len(parts["sound"])
        balanced = round(statistics.fmean(shares), 3)
    peer = column.tool.split()[0]
    return {
        "hacks": [found["hack"], len(parts["hack"])],
        "false_accepts": [found["false_accept"], len(parts["false_accept"])],
        "accused": [accused, len(parts["sound"])],
        "balanced": balanced,
        "says": [sum(says(row, column) == "exploitable" for row in parts[label])
                 for label in LABELS],
        "undecided": sum(
            not is_found(row, column) and "undecided" in _standings(row, column)
            for row in rows if row["label"] != "sound"
        ),
        "no_verdict": sum(says(row, column) == "none" for row in rows),
        "label_lost": sum(bool(row["labels"].get(peer)) for row in rows),
        "median_s": round(statistics.median(one["seconds"] for one in results), 2),
        "max_s": round(max(one["seconds"] for one in results), 2),
        "median_cpu_s": _median([one["cpu_s"] for one in results if one["cpu_s"] is not None]),
    }  # fmt: skip


def _median(values: list[float]) -> float | None:
    """None where nothing was measured."""
    return round(statistics.median(values), 2) if values else None


def show(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Print and return the figures of all columns, over all entries and of each kind.

    A column has the entries that its tool was run on.
    """
    found: dict[str, Any] = {}
    head = ("hacks", "false_accepts", "accused", "balanced", "says h/f/s", "undecided",
            "no verdict", "median s", "CPU s")  # fmt: skip
    for kind in ("all", "text", "code"):
        part = [row for row in rows if kind in ("all", row["kind"])]
        if not part:
            continue
        ran = {
            name: [row for row in part if column.tool in row["results"]]
            for name, column in COLUMNS.items()
        }
        found[kind] = {name: figures(rows, COLUMNS[name]) for name, rows in ran.items() if rows}
        print(f"\n{kind}: {len(part)} entries")
        print(f"{'':22}" + "".join(f"{name:>12}" for name in head))
        for name, cell in found[kind].items():
            cells = (
                *(
                    f"{cell[key][0]}/{cell[key][1]}"
                    for key in ("hacks", "false_accepts", "accused")
                ),
                "-" if cell["balanced"] is None else f"{cell['balanced']:.2f}",
                "/".join(map(str, cell["says"])),
                cell["undecided"],
                cell["no_verdict"],
                f"{cell['median_s']:.1f}",
                cell["median_cpu_s"],
            )
            print(f"{name:22}" + "".join(f"{value!s:>12}" for value in cells))
    return found


def cpu_of(cell: dict[str, Any]) -> str:
    """The median CPU time of a column, in words."""
    return "not measured" if cell["median_cpu_s"] is None else f"{cell['median_cpu_s']:.1f} s"


def markdown(result: dict[str, Any], machine: str) -> str:
    """The table of a page, made of a result's summary."""
    lines = [
        "| auditor | hacks found | false accepts found | sound ones accused | balanced accuracy "
        "| says *exploitable* of hacks, false accepts, sound ones | median | CPU |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, cell in result["summary"]["all"].items():
        counts = [
            f"{cell[key][0]} of {cell[key][1]}" for key in ("hacks", "false_accepts", "accused")
        ]
        balanced = "" if cell["balanced"] is None else f"{cell['balanced']:.2f}"
        said = ", ".join(map(str, cell["says"]))
        lines.append(
            f"| {name} | {' | '.join(counts)} | {balanced} | {said} "
            f"| {cell['median_s']:.1f} s | {cpu_of(cell)} |"
        )
    load = result["machine"]["load_before"]
    made = f"Made by `python benchmarks/audit_peers.py` on {machine}, at a load of {load:g}."
    if result["seen"] < result["entries"] or _differ(result["summary"]["all"]):
        made += " The run ended early: each auditor has the entries that the denominators say."
    return "\n".join([*lines, "", made])


def _differ(cells: dict[str, dict[str, Any]]) -> bool:
    """Tell whether the columns have different entries."""
    return len({(*(cell[key][1] for key in ("hacks", "false_accepts", "accused")),)
                for cell in cells.values()}) > 1  # fmt: skip
