"""Tier 5 alone: what a trained policy finds and whom it accuses, beside one that does not learn.

    python benchmarks/audit_discovery.py --corpus blind      # ten of benchmarks/blind_verifiers
    python benchmarks/audit_discovery.py --corpus planted    # the planted corpus, in a drawn order
    python benchmarks/audit_discovery.py --corpus real --most 24    # drawn of audit_real's targets
    python benchmarks/audit_discovery.py --summary           # the result of all rows

`--arm control` draws as many rollouts from the first policy and learns nothing; `--arm others` runs
tiers 1 to 4 instead. `--part 1/3` takes every third target; a target that has its row is passed
over, so a run that was cut goes on. CPU seconds are those of this process and the sandbox below it:
wall time on a busy machine says little.

What tiers 1 to 4 say of the planted corpus is taken from `results/audit_quality.json`, and of the
released packages from the page of `audit_real.py`. Packages that are not installed are left out.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit_real_cases import Case, cases, problems_of
from audit_real_judged import labels
from measure import FULL, save, spread, summary
from unhack.audit.options import AuditOptions
from unhack.audit.proving.cpu import cpu_seconds
from unhack.audit.report.discovery import CurvePoint
from unhack.audit.runner import audit
from unhack.audit.subject import Subject
from unhack.audit.subjects.loading import load_subject
from unhack.core import plain
from unhack.sandbox.job import Backend
from unhack.sandbox.pool.pool import Pool
from unhack.training.discovery.explore import Reinforcement
from unhack_verifier_bench import planted_entries, subject_of

HERE = Path(__file__).resolve().parent
BLIND = HERE / "blind_verifiers"
ROWS = FULL / "audit_discovery.rows.jsonl"
CALLS, UPDATES, CPU_S, SECONDS = 1000, 48, 40.0, 1200.0
SEED = 19
"""Of the order in which targets are drawn, fixed before the first run."""
ARMS = ("learning", "control", "others")
PAGE = HERE.parent / "docs" / "reference" / "audited-rewards.md"
CORPORA = ("blind", "planted", "real")
_LISTED = re.compile(r"^\|[^|]*\| <code>(.*?)</code> \((\w+)\) \| ([\w ]+) \|", re.MULTILINE)
NOUNS = {"hack": "hacks", "false_accept": "false_accepts"}
POINTS = 8
"""Of a curve in the result."""


@dataclass(frozen=True)
class DiscoveryTarget:
    """One verifier with what is known of it."""

    corpus: str
    name: str
    label: str
    flaws: tuple[str, ...]
    load: Callable[[Backend], Subject]


def targets_of(corpus: str) -> list[DiscoveryTarget]:
    """All targets of a corpus, in the drawn order."""
    found = list(_real() if corpus == "real" else _planted(corpus))
    random.Random(SEED).shuffle(found)
    return found


def _planted(corpus: str) -> Iterator[DiscoveryTarget]:
    for entry in planted_entries(BLIND) if corpus == "blind" else planted_entries():
        label = entry.label.value if entry.label else "sound"
        yield DiscoveryTarget(
            corpus, entry.name, label, entry.flaws,
            lambda backend, entry=entry: subject_of(entry, backend=backend),
        )  # fmt: skip


def _real() -> Iterator[DiscoveryTarget]:
    known = labels()
    for case in cases():
        if case.name in known:
            yield DiscoveryTarget(
                "real", case.name, known[case.name][0], (),
                lambda backend, case=case: _real_subject(case, backend),
            )  # fmt: skip


def _real_subject(case: Case, backend: Backend) -> Subject:
    target, rows = problems_of(case)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        path.write_text("".join(plain.dumps(row) + "\n" for row in rows))
        return load_subject(
            target, problems=path, signature=case.signature or None, seconds=SECONDS,
            backend=backend,
        )  # fmt: skip


def measure(target: DiscoveryTarget, arm: str, backend: Backend) -> dict[str, Any]:
    """The row of one target."""
    row: dict[str, Any] = {
        "corpus": target.corpus, "name": target.name, "label": target.label, "arm": arm,
        "flaws": list(target.flaws),
    }  # fmt: skip
    before, started = cpu_seconds(), time.monotonic()
    options = AuditOptions(
        tiers=(1, 2, 3, 4) if arm == "others" else (5,), calls=CALLS, seconds=SECONDS, cpu_s=CPU_S,
        discoverer=Reinforcement(updates=UPDATES, learns=arm == "learning"),
    )  # fmt: skip
    try:
        report = audit(target.load(backend), options=options, backend=backend)
    except Exception as error:  # of a package's own code too; the row says so
        return row | {"conclusion": "refused", "why": f"{type(error).__name__}: {error}"[:300]}
    found = report.discovery
    curve: Sequence[CurvePoint] = () if found is None else found.curve
    return row | {
        "conclusion": report.conclusion.value,
        "why": report.why[:200],
        "kinds": sorted({one.kind.value for one in report.findings}),
        "found": sorted({one.flaw for one in report.findings}),
        "witnesses": [one.witness[:300] for one in report.findings],
        "evidence": [one.evidence.text[:200] for one in report.findings],
        "converged": found is not None and found.converged,
        "reward": [round(point.reward, 4) for point in curve],
        "wrong": [round(point.wrong, 4) for point in curve],
        "calls": report.calls,
        "cpu_s": round(cpu_seconds() - before, 1),
        "wall_s": round(time.monotonic() - started, 1),
    }


def is_right(row: dict[str, Any]) -> bool:
    """True where the row says of a target what its label says."""
    if row["label"] == "sound":
        return not row.get("kinds")
    return row["label"] in row.get("kinds", ())


def known_rows() -> list[dict[str, Any]]:
    """The rows so far."""
    return [json.loads(line) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []


def run(some: Sequence[DiscoveryTarget], arm: str, *, until: float) -> None:
    """Measure what has no row yet, until a time by `time.monotonic`."""
    done = {(row["corpus"], row["name"], row["arm"]) for row in known_rows()}
    ROWS.parent.mkdir(exist_ok=True)
    with closing(Pool()) as backend:
        for target in some:
            if (target.corpus, target.name, arm) in done or time.monotonic() > until:
                continue
            row = measure(target, arm, backend)
            with ROWS.open("a") as file:
                file.write(json.dumps(row) + "\n")
            said = row.get("found") or row.get("why")
            print(f"{is_right(row)!s:5} {row.get('cpu_s', 0.0):6.1f} s  {row['name']:40} {said}")


def others_of(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str], bool]:
    """True by corpus and name where tiers 1 to 4 find what a target's label says."""
    lists: dict[str, list[str]] = (summary("audit_quality") or {})["not_as_labelled"]
    missed = {name for names in lists.values() for name in names}
    listed = _LISTED.findall(PAGE.read_text())
    found: dict[tuple[str, str], bool] = {}
    for row in rows:
        key, label = (row["corpus"], row["name"]), row["label"]
        if row["corpus"] == "planted":
            found[key] = label != "sound" and row["name"] not in missed
        elif row["corpus"] == "real":
            _, target, kind = row["name"].split(" ")
            said = [end for name, of, end in listed if of == kind and target.endswith(name)]
            found[key] = {"hack": "hack proven", "false_accept": "false accept only"}.get(
                label
            ) in said
        elif row["arm"] == "others":
            found[key] = bool(row["kinds"]) and is_right(row)
    return found


def figures_of(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """By corpus and label: [as labelled by tier 5, by tiers 1 to 4, by either, of how many]."""
    others = others_of(rows)
    learnt = [row for row in rows if row["arm"] == "learning" and "cpu_s" in row]
    table: dict[str, dict[str, list[int]]] = {}
    classes: dict[str, list[int]] = {}
    for row in learnt:
        if row["label"] == "sound":
            continue
        five, rest = is_right(row), others.get((row["corpus"], row["name"]), False)
        counts = (five, rest, five or rest, True)
        cell = table.setdefault(row["corpus"], {}).setdefault(row["label"], [0, 0, 0, 0])
        for place, count in enumerate(counts):
            cell[place] += count
        for flaw in row["flaws"] if row["corpus"] == "planted" else ():
            group = classes.setdefault(flaw, [0, 0, 0, 0])
            for place, count in enumerate(counts):
                group[place] += count
    sound = [row for row in learnt if row["label"] == "sound"]
    return {
        "found_5_others_union_of": table,
        "planted_classes_5_others_union_of": dict(sorted(classes.items())),
        "sound": len(sound),
        "sound_accused": [row["name"] for row in sound if row["kinds"]],
        "hack_called_false_accept": sum(
            row["label"] == "hack" and row["kinds"] == ["false_accept"] for row in learnt
        ),
        "cpu_s": spread([row["cpu_s"] for row in learnt]),
        "wall_s": spread([row["wall_s"] for row in learnt]),
        "calls": spread([row["calls"] for row in learnt]),
        "left_out": sum(row["arm"] == "learning" and "cpu_s" not in row for row in rows),
    }


def beside_control(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Targets that both arms were run on: the share rewarded and wrong over updates, learning and
    not, the mean over flawed targets; and how many each finds."""
    by_arm = {
        arm: {
            (row["corpus"], row["name"]): row
            for row in rows
            if row["arm"] == arm and row.get("wrong") and row["label"] != "sound"
        }
        for arm in ("learning", "control")
    }
    both = sorted(by_arm["learning"].keys() & by_arm["control"].keys())
    found: dict[str, Any] = {"targets": [name for _, name in both]}
    for arm, known in by_arm.items():
        some = [known[key] for key in both]
        found[arm] = {
            "wrong_share": [
                round(statistics.fmean(_at(row["wrong"], at / (POINTS - 1)) for row in some), 3)
                for at in range(POINTS)
            ]
            if some
            else [],
            "as_labelled": sum(map(is_right, some)),
            "anything_proven": sum(bool(row["kinds"]) for row in some),
            "calls": sum(row["calls"] for row in some),
        }
    return found


def _at(values: Sequence[float], part: float) -> float:
    """The mean of three values around a part of the way; training that ended early stays there."""
    place = round(part * (UPDATES - 1))
    some = values[max(0, place - 1) : place + 2] or values[-3:]
    return statistics.fmean(some)


def blind_before(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The blind verifiers by arm: [flawed found, flawed, sound accused, sound]. The arm `before` is
    tier 5 at the commit that brought them, when nothing had been changed yet."""
    found: dict[str, list[int]] = {}
    for row in rows:
        if row["corpus"] == "blind" and "kinds" in row:
            cell = found.setdefault(row["arm"], [0, 0, 0, 0])
            at = 2 if row["label"] == "sound" else 0
            cell[at] += bool(row["kinds"]) if at else is_right(row)
            cell[at + 1] += 1
    return found


def summarise() -> None:
    """Write the result."""
    rows = known_rows()
    figures = figures_of(rows)
    told = [
        f"{cell[0]} of {cell[3]} {NOUNS[label]} of the {corpus} sample"
        for corpus, cells in sorted(figures["found_5_others_union_of"].items())
        for label, cell in sorted(cells.items())
    ]
    said = (
        f"tier 5 alone proves {', '.join(told)}; {len(figures['sound_accused'])} of "
        f"{figures['sound']} sound accused; median {figures['cpu_s']['median']:.1f} CPU s"
    )
    document = {
        "summary": said, "calls_allowed": CALLS, "updates": UPDATES, **figures,
        "blind": blind_before(rows), "beside_control": beside_control(rows),
    }  # fmt: skip
    command = "python benchmarks/audit_discovery.py --summary"
    save("audit_discovery", command, document, records={"rows": rows})
    print(said)


def main() -> None:
    """Measure one corpus, or make the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", choices=CORPORA, default="blind")
    parser.add_argument("--arm", choices=ARMS, default="learning")
    parser.add_argument("--part", default="1/1", help="which of how many parts of the targets")
    parser.add_argument("--most", type=int, default=1000, help="targets of the drawn order")
    parser.add_argument("--only", default="", help="targets whose name holds this")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no target after these")
    parser.add_argument("--summary", action="store_true")
    options = parser.parse_args()
    if options.summary:
        summarise()
        return
    part, of = map(int, options.part.split("/"))
    some = [one for one in targets_of(options.corpus) if options.only in one.name][: options.most]
    run(some[part - 1 :: of], options.arm, until=time.monotonic() + 60 * options.minutes)


if __name__ == "__main__":
    main()
