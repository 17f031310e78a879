"""Markdown pages: their fenced blocks, and a way to run them as a reader would.

The blocks of a page run in order, in one empty directory:

    ```python               runs; names carry over from block to block
    ```text                 directly after a `python` block: what it prints
    ```console              `$ command` lines run in bash and must end with code 0; lines that
                            follow a command are what it prints, if there are any
    ```… title="a/b.py"     is written to that file

An output on a page is that of a real run, in full. Of what differs from run to run, times, rates
and the isolation of the host are masked on both sides before the comparison (`ALWAYS`). A comment
on a line of its own before a block, which readers do not see, masks what else may differ there:

    <!-- varies: REGEX -->

Several may precede a block; each has to match something in what the page shows. Blank lines and
progress lines of long commands do not count. Runs of blanks and of the rules of tables count as
one, so that a page need not follow the width of a column. A comment `<!-- requires: cc numpy -->`
names commands and modules without which the page is left out.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TOP = ("README.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
_FENCE = re.compile(r"^(?P<indent> *)(?P<mark>`{3,})(?P<info>[^`]*)$")
_TITLE = re.compile(r'\btitle="([^"]+)"')
_VARIES = re.compile(r"^ *<!-- varies: (.+?) -->$")
_PROGRESS = re.compile(r"^\S.*?: (?:\d+ of \d+ done, \d+ left; )?\d+ (?:s|min|h \d+ min) so far")
"""A progress line of a long command, which a fast machine never prints."""
ALWAYS = (r"\b\d[\d.]* ?(?:ms|s)\b", r"\(\d+/s\)", r"\bisolated by \w+")
_TIMEOUT_S = 1800.0


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    language: str
    title: str
    text: str
    line: int
    """Of its first line of text, from 1."""
    follows: int | None
    """Line of the block that it directly follows, if only blank lines and masks stand between."""
    varies: tuple[str, ...] = ()
    """Patterns of what may differ from what the page shows."""


def page_paths() -> list[Path]:
    """Every page that readers see."""
    top = [
        ROOT / name for name in ("README.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
    ]
    return [*top, *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of a page, those inside lists and tabs too."""
    found: list[Block] = []
    opened: tuple[re.Match[str], int] | None = None
    lines: list[str] = []
    previous: int | None = None
    varies: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        match = _FENCE.match(line)
        if opened is None:
            if match:
                opened, lines = (match, number + 1), []
            elif mask := _VARIES.match(line):
                varies.append(mask[1])
            elif line.strip():
                previous, varies = None, []
            continue
        fence, start = opened
        if match and not match["info"].strip() and len(match["mark"]) >= len(fence["mark"]):
            language = fence["info"].split()[0] if fence["info"].split() else ""
            title = _TITLE.search(fence["info"])
            body = "".join(f"{item}\n" for item in lines)
            name = title[1] if title else ""
            found.append(Block(language, name, body, start, previous, tuple(varies)))
            opened, previous, varies = None, start, []
        else:
            lines.append(line.removeprefix(fence["indent"]))
    assert opened is None, f"line {opened and opened[1]}: a fence is not closed"
    return found


def missing(text: str) -> list[str]:
    """What the page requires and this machine lacks."""
    wanted = [
        name for part in re.findall(r"<!-- requires: (.*?) -->", text) for name in part.split()
    ]
    return [
        name
        for name in wanted
        if shutil.which(name, path=_path()) is None and importlib.util.find_spec(name) is None
    ]


def run_page(text: str, name: str, folder: Path) -> int:
    """Run a page in the empty directory `folder`; how many blocks ran.

    Raises AssertionError where an output differs or a command fails, and what the examples raise.
    """
    blocks = blocks_of(text)
    outputs = {block.follows: block for block in blocks if block.language == "text"}
    namespace: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    with contextlib.chdir(folder):
        for block in blocks:
            if block.title:
                path = folder / block.title
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
            elif block.language == "python":
                printed = _run_python(block, name, namespace)
                if shown := outputs.get(block.line):
                    expect(shown.text, printed, f"{name}:{block.line}", varies=shown.varies)
                count += 1
            elif block.language == "console":
                count += _run_console(block, name)
    return count


def _run_python(block: Block, name: str, namespace: dict[str, Any]) -> str:
    source = "\n" * (block.line - 1) + block.text  # so that tracebacks name the page's line
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, name, "exec", dont_inherit=True), namespace)
    return printed.getvalue()


def _run_console(block: Block, name: str) -> int:
    count = 0
    shown: list[str] = []
    for command, expected, line in _commands(block):
        done = subprocess.run(
            ["bash", "-c", command],
            env={**os.environ, "PATH": _path(), "COLUMNS": "80"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        place = f"{name}:{line}: {command}"
        assert done.returncode == 0, f"{place} ended with {done.returncode}:\n{done.stdout}"
        if expected.strip():
            varies = tuple(part for part in block.varies if re.search(part, _tidy(expected)))
            expect(expected, done.stdout, place, varies=varies)
            shown += varies
        count += 1
    unused = set(block.varies) - set(shown)
    assert not unused, f"{name}:{block.line}: nothing that is shown matches {sorted(unused)}"
    return count


def _commands(block: Block) -> Iterator[tuple[str, str, int]]:
    """(command, expected output, line) of each `$ command`."""
    command: list[str] = []
    output: list[str] = []
    begun = 0
    for offset, line in enumerate(block.text.split("\n")):
        if line.startswith("$ "):
            if command:
                yield "\n".join(command), "\n".join(output), begun
            command, output, begun = [line[2:]], [], block.line + offset
        elif command and not output and (command[-1].endswith("\\") or line.startswith("> ")):
            command.append(line.removeprefix("> "))
        else:
            output.append(line)
    if command:
        yield "\n".join(command), "\n".join(output), begun


def _path() -> str:
    return os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])


def expect(expected: str, printed: str, place: str, *, varies: tuple[str, ...] = ()) -> None:
    """Raises AssertionError unless `printed` is `expected` but for what the patterns match."""
    wanted, got = _tidy(expected), _tidy(printed)
    for pattern in varies:
        assert re.search(pattern, wanted), f"{place}: nothing that is shown matches {pattern!r}"
    for pattern in (*varies, *ALWAYS):
        wanted, got = (re.sub(pattern, "*", text) for text in (wanted, got))
    assert wanted == got, f"{place} printed:\n{got}\ninstead of:\n{wanted}"


def _tidy(text: str) -> str:
    kept = (line for line in text.split("\n") if not _PROGRESS.match(line))
    lines = (re.sub("─+", "─", re.sub(r"[ \t]+", " ", line)) for line in kept)
    return "\n".join(line.rstrip() for line in lines if line.strip())
