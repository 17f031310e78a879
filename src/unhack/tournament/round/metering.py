"""The cost of an attempt so far, on disk while it runs: a kill loses no more than a second of it.

The rounds count checks and seconds themselves. An agent that spends money or tokens says so with
`note_usage` whenever that changes; the last note before a kill is what counts.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Generator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, cast

from unhack.agents.play import AgentUsage, AttemptClock

NOTE = "usage.json"
"""In the transcript directory of a turn."""


def note_usage(transcript: Path, usage: AgentUsage) -> None:
    """Say what a turn has cost so far; to be called by the agent. Raises OSError."""
    _write(transcript / NOTE, usage)


class AttemptMeter:
    """Counts what one attempt uses."""

    def __init__(self, path: Path, transcript: Path, *, clock: AttemptClock) -> None:
        self._path = path
        self._transcript = transcript
        self._clock = clock
        self._checks = 0
        self.beat()

    def check(self, count: int = 1) -> None:
        """So many more uses of `check`."""
        self._checks += count
        self.beat()

    def beat(self) -> None:
        """Write down what was used up to now; a full disk is no reason to stop here."""
        with contextlib.suppress(OSError):
            _write(self._path, self.now())

    def now(self) -> AgentUsage:
        """Up to now, with the agent's own notes."""
        elapsed = self._clock.elapsed_s()
        seconds = elapsed if elapsed < float("inf") else _read(self._path).seconds
        counted = AgentUsage(checks=self._checks, seconds=round(seconds, 3))
        return larger_of(counted, _read(self._transcript / NOTE))


class AttemptMeters:
    """The meters of all attempts that are under way. Threads may share it."""

    def __init__(self) -> None:
        self._running: list[AttemptMeter] = []

    @contextlib.contextmanager
    def running(self, meter: AttemptMeter) -> Generator[None]:
        """Let `beat` write this one down for the length of a block."""
        self._running.append(meter)
        try:
            yield
        finally:
            self._running.remove(meter)
            meter.beat()

    def beat(self) -> None:
        """Write all of them down."""
        for meter in tuple(self._running):
            meter.beat()


def read_meter(path: Path, transcript: Path) -> AgentUsage:
    """The usage of an attempt that was cut off."""
    return larger_of(_read(path), _read(transcript / NOTE))


def larger_of(one: AgentUsage, other: AgentUsage) -> AgentUsage:
    """The larger of both in every respect: two counts of the same attempt."""
    pairs = {f.name: max(getattr(one, f.name), getattr(other, f.name)) for f in fields(AgentUsage)}
    return AgentUsage(**pairs)


def _write(path: Path, usage: AgentUsage) -> None:
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(json.dumps(asdict(usage)))
    os.replace(beside, path)


def _read(path: Path) -> AgentUsage:
    """Nothing where there is no note, or one that an agent spoilt."""
    try:
        found: Any = json.loads(path.read_bytes()[: 1 << 16])
    except (OSError, ValueError):
        return AgentUsage()
    if not isinstance(found, dict):
        return AgentUsage()
    noted = cast(dict[str, Any], found)
    known: dict[str, Any] = {}
    for item in fields(AgentUsage):
        value = noted.get(item.name, 0)
        whole = isinstance(value, int | float) and not isinstance(value, bool)
        if whole and 0 <= value < 1e12:
            known[item.name] = type(item.default)(value)
    return AgentUsage(**known)
