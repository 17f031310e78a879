"""Messages that the sandbox's runner understands (see `guest.candidate.runner`)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from unhack.sandbox.job import Job, Kind, Profile, Role
from unhack.sandbox.limits import Limits
from unhack.sandbox.linux import rlimits
from unhack.sandbox.pool.worker import ENVIRON

_encode = json.JSONEncoder(separators=(",", ":")).encode


def _message(mode: str, limits: Limits, fields: Mapping[str, Any]) -> bytes:
    common = {"mode": mode, "rlimits": rlimits.encode(limits), "disk": limits.disk_bytes}
    return _encode({**common, **fields}).encode()


class CallsTemplate:
    """Jobs that call one function of many completions on the same inputs.

    The part that every completion shares is encoded once.
    """

    def __init__(self, entry: str, calls: Sequence[Any], *, limits: Limits, profile: Profile,
                 each: bool = False) -> None:  # fmt: skip
        """`calls` are [args, kwargs] pairs of encoded plain data."""
        self._limits = limits
        self._profile = profile
        fields = {"entry": entry, "calls": list(calls), "each": each}
        self._head = _message("calls", limits, fields)[:-1] + b',"source":'

    def job(self, source: str) -> Job:
        """The job of one completion."""
        return Job(self._head + _encode(source).encode() + b"}", self._limits, self._profile)


def main(source: str, *, stdin: bytes, limits: Limits, profile: Profile) -> Job:
    """Run `source` as a Python program in a warm interpreter."""
    message = _message("main", limits, {"source": source})
    return Job(message, limits, profile, stdin=stdin, capture=True)


def program(
    argv: Sequence[str],
    *,
    limits: Limits,
    files: Mapping[str, tuple[bytes, int]] | None = None,
    stdin: bytes = b"",
    collect: Sequence[str] = (),
    binds: tuple[tuple[str, str], ...] = (),
) -> Job:
    """Run a command in an empty private directory that holds `files` (name -> content, mode).

    `binds` are (host path, path inside) pairs, mounted read-only. The result lines are `[null,
    "exit", code, signal, seconds]` and `[null, "file", name, base64]` for each of `collect`.
    """
    packed = {
        name: {"data": base64.b64encode(data).decode("ascii"), "mode": mode}
        for name, (data, mode) in (files or {}).items()
    }
    fields = {
        "argv": list(argv),
        "env": ENVIRON,
        "files": packed,
        "collect": list(collect),
        "collect_bytes": limits.file_bytes,
    }
    if collect:
        limits = replace(limits, output_bytes=max(limits.output_bytes, 2 * limits.file_bytes))
    profile = Profile(kind=Kind.PROGRAM, binds=binds)
    return Job(_message("program", limits, fields), limits, profile, stdin=stdin, capture=True)


def encode_files(files: Mapping[str, bytes]) -> dict[str, str]:
    """Files as a message carries them: path -> base64."""
    return {name: base64.b64encode(data).decode("ascii") for name, data in files.items()}


def serve(
    modules: Mapping[str, str],
    *,
    peer: int,
    limits: Limits,
    profile: Profile,
    tree: Mapping[str, Any] | None = None,
) -> Job:
    """The candidate's half of a sealed pair: module name -> source, and a tree of files besides
    (see `candidate.serve`).

    `peer` is one end of a socket pair.
    """
    message = _message("serve", limits, {"modules": dict(modules), **(tree or {})})
    return Job(message, limits, profile, peer=peer)


def judge(
    mode: str,
    fields: Mapping[str, Any],
    *,
    limits: Limits,
    profile: Profile | None = None,
    peer: int | None = None,
) -> Job:
    """A job of trusted code in a judge's worker (for modes see `sandbox.guest.judge.modes`)."""
    chosen = profile or Profile(role=Role.JUDGE)
    return Job(_message(mode, limits, fields), limits, chosen, peer=peer)


SPARE_LINES = 64
"""Lines beyond those asked for that a candidate's channel may hold before the rest is ignored."""


def result_lines(data: bytes, *, most: int | None = None) -> list[Any]:
    """The lines of a result channel that are JSON lists; anything else is dropped.

    `most` bounds the lines that are parsed. Give it for every channel that a candidate writes: a
    line costs a microsecond to parse and the candidate two bytes to write. What is no list, blank
    lines above all, is passed over without looking at each line.
    """
    lines: list[Any] = []
    start = 0 if data.startswith(b"[") else _next_list(data, 0)
    parsed = 0
    while start >= 0 and (most is None or parsed < most):
        end = data.find(b"\n", start)
        item = _parse_line(data[start:end] if end >= 0 else data[start:])
        parsed += 1
        if isinstance(item, list) and item:
            lines.append(item)
        start = _next_list(data, end) if end >= 0 else -1
    return lines


def _next_list(data: bytes, position: int) -> int:
    """Start of the next line that can be a list, or -1."""
    found = data.find(b"\n[", position)
    return found + 1 if found >= 0 else -1


_read_value = json.JSONDecoder().raw_decode


def _parse_line(line: bytes) -> Any:
    try:
        text = line.decode("ascii")
        value, end = _read_value(text)  # what an honest channel holds, at half of the cost
        if end == len(text):
            return value
    except (ValueError, RecursionError):
        pass  # whatever it is, the whole parser says so
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
