"""The part that two runs of one tournament must have in common: everything but time.

Left out are moments, process ids, how often and on which machine an agent was started and what that
cost, its remarks, and metrics that tell seconds. Of a contest that measures time the measured
numbers are left out too: there only what was handed in, whether it is valid and what it is flagged
for can be equal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from unhack.core.hashing import content_hash
from unhack.tournament.contest import Flag, Measurement
from unhack.tournament.record.records import Entry, TournamentRecord

_TIME = re.compile(r"(^|_)(s|ms|us|ns|seconds|time|cpu|wall)($|_)")


def canonical_records(record: TournamentRecord) -> list[dict[str, Any]]:
    """Plain data, in order: the settings, each entry of each round, champions, confirmations."""
    timed = record.settings.exclusive
    rows: list[dict[str, Any]] = [{"settings": record.settings.hash}]
    for turn in record.rounds:
        told = None if timed else turn.announced
        row = {"round": turn.number, "impossible": turn.impossible, "announced": told}
        if turn.discipline:
            row |= {"discipline": turn.discipline, "rivals": dict(sorted(turn.rivals.items()))}
        rows.append(row)
        rows += [canonical_entry(entry, timed=timed) for entry in turn.entries]
    rows += [
        {"reign": reign.round, "agent": reign.agent, "digest": reign.digest}
        for reign in record.reigns
    ]
    rows += [
        {
            "confirmed": item.digest,
            "measured": canonical_measurement(item.confirmed, timed=timed),
            **({} if timed else {"held": item.held}),
        }
        for item in record.confirmations
    ]
    return rows


def canonical_hash(record: TournamentRecord) -> str:
    """One hash over all canonical records."""
    return content_hash(json.dumps(canonical_records(record), sort_keys=True))


def canonical_entry(entry: Entry, *, timed: bool) -> dict[str, Any]:
    """One agent in one round; `timed` for a contest that measures time."""
    return {
        "round": entry.round,
        "agent": entry.agent,
        "role": str(entry.role),
        "state": str(entry.state),
        "parent": entry.parent,
        "digest": entry.digest,
        "files": dict(sorted(entry.files.items())),
        "problem": entry.problem,
        "declined": entry.declined,
        "ended": None if entry.ended is None else str(entry.ended),
        "tainted": entry.tainted,
        **canonical_judgement(entry, timed=timed),
    }


def canonical_judgement(entry: Entry, *, timed: bool) -> dict[str, Any]:
    """The judge's findings on an entry."""
    return {
        "fitness": None if timed else entry.fitness,
        "measured": canonical_measurement(entry.measured, timed=timed),
        "audited": canonical_measurement(entry.audited, timed=timed),
        "flags": [_flag(flag, timed=timed) for flag in entry.flags],
    }


def canonical_measurement(measured: Measurement | None, *, timed: bool) -> dict[str, Any] | None:
    """One measurement; None for none."""
    if measured is None:
        return None
    rest = {"valid": measured.valid, "flags": [_flag(f, timed=timed) for f in measured.flags]}
    if timed:
        return rest
    return {
        **rest,
        "fitness": measured.fitness,
        "low": measured.low,
        "high": measured.high,
        "metrics": _untimed(measured.metrics),
        "reason": measured.reason,
    }


def _untimed(metrics: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in sorted(metrics.items()) if not _TIME.search(name)}


def _flag(flag: Flag, *, timed: bool) -> dict[str, str]:
    evidence = {} if timed else {"evidence": flag.evidence}
    return {"kind": flag.kind, "source": flag.source, **evidence}
