"""The hostile programs as data: reads and checks the headers of `programs/<family>/<claim>`.

A header is the block of comments at the top of a file, one `key: value` a line:

    claim         the sentence that the sandbox must make true
    profile       function | scratch | stdio | program | text
    win           value | token | pass | left_over | host
    control_safe  true | false
    expect        optional; comma list of the statuses that a stopped attack may get
    leaves        optional; what a `left_over` or `host` program tries to leave or break
    control       optional; comma list of the careless harness styles to try it in
    expected      optional; JSON, the judge's expected value instead of the token
    checker       optional; a function of `control_comparisons.py` that judges as custom checker
    check         optional; text programs: exact | numeric | choice | regex | math
    builds        optional; `source`: the file's `source()` returns the completion, so that what
                  no file can hold (null bytes, surrogates, a million brackets) is still data
"""

from __future__ import annotations

import ast
import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

PROGRAMS = Path(__file__).parent / "programs"
PROFILES = ("function", "scratch", "stdio", "program", "text")
WINS = ("value", "token", "pass", "left_over", "host")
STATUSES = ("failed", "error", "timeout", "limit", "invalid")
"""What a stopped attack may be judged; `passed` and `unscored` never."""
STOPPED = tuple(status for status in STATUSES if status not in ("timeout", "limit"))
"""What an attack gets that was refused; one that ran out of time may have been stopped by luck."""
CHECKS = ("exact", "numeric", "choice", "regex", "math")
REQUIRED = ("claim", "profile", "win", "control_safe")
OPTIONAL = ("expect", "leaves", "control", "expected", "checker", "check", "builds")
KEYS = frozenset(REQUIRED + OPTIONAL)
DEFAULT_STYLES = {
    "value": ("local",),
    "token": ("local",),
    "pass": ("local", "results", "shared", "script", "frame", "pickle", "file"),
    "left_over": ("local",),
    "host": ("local",),
}
_MISSING = object()


class HeaderError(ValueError):
    """A program's header does not keep the format."""


@dataclass(frozen=True, slots=True)
class Program:
    """One hostile program."""

    path: Path
    family: str
    claim: str
    profile: str
    win: str
    control_safe: bool
    expect: tuple[str, ...]
    """Allowed statuses; all of `STATUSES` when the header names none."""
    leaves: str
    styles: tuple[str, ...]
    """Careless harness styles that the control tries."""
    expected: Any
    """The judge's expected value; None together with `uses_token`."""
    uses_token: bool
    checker: str
    check: str
    builds: str

    @property
    def id(self) -> str:
        """The claim as a test id."""
        return f"{self.family}/{self.path.stem}"

    @property
    def is_native(self) -> bool:
        """Whether it is C source."""
        return self.path.suffix == ".c"

    @property
    def allowed(self) -> tuple[str, ...]:
        """The statuses of a stopped attack: the header's, or those of the kind of attack."""
        if self.expect != STATUSES:
            return self.expect
        if self.is_native:
            return tuple(status for status in STATUSES if status != "invalid")
        return STOPPED if self.win in ("value", "token") else STATUSES

    def completion(self) -> str:
        """The text that is handed over as the completion: code, or for `text` an answer."""
        text = self.path.read_text(encoding="utf-8")
        if not self.builds:
            return text
        namespace: dict[str, Any] = {"__name__": "builder"}
        exec(compile(text, str(self.path), "exec"), namespace)
        build = cast("Callable[[], str]", namespace["source"])
        return build()


def read_header(path: Path) -> dict[str, str]:
    """The header's keys and values. Raises `HeaderError`."""
    mark = "//" if path.suffix == ".c" else "#"
    header: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith(mark):
            break
        key, colon, value = line.removeprefix(mark).strip().partition(":")
        if not colon or key not in KEYS or key in header:
            raise HeaderError(f"{path}: bad header line {line!r}")
        header[key] = value.strip()
    missing = [key for key in REQUIRED if not header.get(key)]
    if missing:
        raise HeaderError(f"{path}: header lacks {', '.join(missing)}")
    return header


def _choose(path: Path, what: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise HeaderError(f"{path}: {what} is {value!r}, not one of {', '.join(allowed)}")
    return value


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _default_styles(profile: str, win: str) -> tuple[str, ...]:
    if profile in ("stdio", "program"):
        return ("stdio",)
    return DEFAULT_STYLES[win]


def load_program(path: Path) -> Program:
    """One program. Raises `HeaderError` when its header does not keep the format."""
    header = read_header(path)
    profile = _choose(path, "profile", header["profile"], PROFILES)
    win = _choose(path, "win", header["win"], WINS)
    expect = _split(header.get("expect", ""))
    for status in expect:
        _choose(path, "expect", status, STATUSES)
    if header.get("check"):
        _choose(path, "check", header["check"], CHECKS)
    expected: Any = _MISSING
    if "expected" in header:
        try:
            expected = json.loads(header["expected"])
        except ValueError as error:
            raise HeaderError(f"{path}: expected is not JSON: {error}") from None
    return Program(
        path=path,
        family=path.parent.name,
        claim=header["claim"],
        profile=profile,
        win=win,
        control_safe=_choose(path, "control_safe", header["control_safe"], ("true", "false"))
        == "true",
        expect=expect or STATUSES,
        leaves=header.get("leaves", ""),
        styles=_split(header.get("control", "")) or _default_styles(profile, win),
        expected=None if expected is _MISSING else expected,
        uses_token=expected is _MISSING,
        checker=header.get("checker", ""),
        check=header.get("check", ""),
        builds=_choose(path, "builds", header.get("builds", ""), ("", "source")),
    )


@functools.cache
def load_corpus() -> tuple[Program, ...]:
    """All programs, ordered by family and claim. Raises `HeaderError`."""
    paths = [*PROGRAMS.glob("*/*.py"), *PROGRAMS.glob("*/*.c")]
    return tuple(load_program(path) for path in sorted(paths))


def count_by_family() -> dict[str, int]:
    """How many programs each family has."""
    counts: dict[str, int] = {}
    for program in load_corpus():
        counts[program.family] = counts.get(program.family, 0) + 1
    return counts


def defined_names(source: str) -> set[str]:
    """Names of the functions that a Python source defines at top level."""
    return {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
