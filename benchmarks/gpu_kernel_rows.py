"""Rows of judged GPU kernels: which are left, which are whose share, and the summary of them.

A row is one line of JSON, written when it ends. Cards that judge in parallel write a file each;
`tournament_gpu_kernels.py --join` makes one summary of them.

Covered: shares, files that were broken off, rows that were judged twice, a summary under 10 KB.
Not covered: judging (see `tournament_gpu_kernels`).
"""

from __future__ import annotations

import json
import random
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from measure import MAX_SUMMARY_BYTES
from unhack.core.errors import UsageError

COMMAND = "python benchmarks/tournament_gpu_kernels.py"
SAME = ("seed", "pairs")
"""What rows of one summary share; what an older row does not say is not compared."""
_MOST_WORDS = 160


class Named(Protocol):
    """What can be judged."""

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...


One = TypeVar("One", bound=Named)
JudgedRow = dict[str, Any]


def share_of(text: str) -> tuple[int, int]:
    """(K, N) of `K/N`, K from 1 to N. Raises UsageError."""
    first, slash, last = text.partition("/")
    if slash and first.isdigit() and last.isdigit() and 1 <= int(first) <= int(last):
        return int(first), int(last)
    raise UsageError(f"a share is K/N with K from 1 to N, like 2/4, not {text!r}")


def chosen(every: Iterable[One], *, words: Sequence[str], seed: int, share: str) -> list[One]:
    """The rows that begin with one of the words (all without words), shuffled, then every N-th of
    them. All shares together are all rows, each once. Raises UsageError."""
    part, parts = share_of(share)
    found = [
        row for row in every
        if not words or f"{row.kind} {row.name}".startswith(tuple(words))
        or row.name.startswith(tuple(words))
    ]  # fmt: skip
    random.Random(seed).shuffle(found)
    return found[part - 1 :: parts]


def read(path: Path) -> list[JudgedRow]:
    """The rows of a file; none where there is no file. A last line that was broken off is left
    out. Raises UsageError for any other line that is no row."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    found: list[JudgedRow] = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            found.append({"kind": row["kind"], "name": row["name"], "ok": row["ok"]} | row)
        except (ValueError, KeyError, TypeError):
            if number < len(lines):
                raise UsageError(f"line {number} of {path} is no row of kernels") from None
    return found


def append(path: Path, row: JudgedRow) -> None:
    """Add a row to a file, on a line of its own even where the last one was broken off."""
    broken = path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
    if broken:
        whole = path.read_bytes()
        path.write_bytes(whole[: whole.rfind(b"\n") + 1])
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, default=str) + "\n")


def judged(rows: Iterable[JudgedRow]) -> dict[tuple[str, str], JudgedRow]:
    """By kind and name, the last of each that came to a result, or its last failure. Raises
    UsageError for rows that cannot stand in one summary."""
    found: dict[tuple[str, str], JudgedRow] = {}
    for row in rows:
        for name in SAME:
            values = {one[name] for one in (row, *found.values()) if name in one}
            if len(values) > 1:
                text = ", ".join(map(str, sorted(values)))
                raise UsageError(f"rows of different {name} ({text}) make no summary: join others")
        key = (row["kind"], row["name"])
        if "error" not in row or "error" in found.get(key, row):
            found[key] = row
    return found


def left(every: Sequence[One], rows: Iterable[JudgedRow]) -> list[One]:
    """Those that no row tells the result of; one whose judging failed is left, too."""
    done = {key for key, row in judged(rows).items() if "error" not in row}
    return [row for row in every if (row.kind, row.name) not in done]


def summary(
    rows: Iterable[JudgedRow], every: Iterable[Named], *, machine: str = ""
) -> dict[str, Any]:
    """What came of the rows, below 10 KB: each by kind and name with `ok`, what was wrong in words
    where it was; how many cheats got a flag, of whatever name, and which were paid. `every` is what
    there is to judge; `machine` stands for rows that do not say."""
    done = judged(rows)
    machines = sorted({str(row.get("machine") or machine or row.get("card")) for row in
                       done.values()})  # fmt: skip
    errors = {name: row["aa_error"] for (kind, name), row in done.items() if kind == "control"
              and "aa_error" in row}  # fmt: skip
    found: dict[str, Any] = {
        "command": COMMAND,
        "machine": "; ".join(machines),
        **{name: next((row[name] for row in done.values() if name in row), None) for name in SAME},
        "judged": len(done),
        "not_judged": len({(row.kind, row.name) for row in every} - set(done)),
        "as_they_must_be": sum(bool(row["ok"]) for row in done.values()),
        "seconds_of_a_row": _spread([row["seconds"] for row in done.values() if "seconds" in row]),
        "cheats_judged": sum(kind == "cheat" for kind, _ in done),
        "cheats_flagged": sum(kind == "cheat" and bool(row.get("flags"))
                              for (kind, _), row in done.items()),
        "cheats_credited": sorted(name for (kind, name), row in done.items()
                                  if kind == "cheat" and row.get("fitness", 0.0) > 0),
        "aa_error": _spread(list(errors.values())),
        "controls": {name.removeprefix("reference."): errors[name] for name in sorted(errors)},
        "honest": {
            name: [round(row.get(part, 0.0), 3) for part in ("fitness", "low", "high")]
            for (kind, name), row in sorted(done.items()) if kind == "honest" and row["ok"]
        },
        "cheats": {},
        "wrong": {f"{kind} {name}": _words(row) for (kind, name), row in sorted(done.items())
                  if not row["ok"]},
    }  # fmt: skip
    for (kind, name), row in sorted(done.items()):
        if kind == "cheat" and row["ok"]:
            found["cheats"].setdefault(row.get("expected") or "invalid", []).append(name)
    return _fitted(found)


def text_of(found: dict[str, Any]) -> str:
    """The file of a summary."""
    return json.dumps(found, separators=(",", ":")).replace('],"', '],\n"') + "\n"


def _spread(values: list[float]) -> list[float]:
    """[least, median, most]."""
    return [min(values), statistics.median(values), max(values)] if values else []


def _words(row: JudgedRow) -> str:
    flags = ",".join(row.get("flags", {}))
    told = row.get("error") or row.get("reason") or f"A/A {row.get('aa_error')}"
    return f"{flags} {told}".strip()[:_MOST_WORDS]


def _fitted(found: dict[str, Any]) -> dict[str, Any]:
    """With as many words on what went wrong as there is room for."""
    most = _MOST_WORDS
    while len(text_of(found)) > MAX_SUMMARY_BYTES - 240 and most:
        most //= 2
        found["wrong"] = {name: words[:most] for name, words in found["wrong"].items()}
    return found
