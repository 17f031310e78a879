"""The README's pictures of terminals: commands that run here, and what they print.

    python benchmarks/terminals.py [--only score audit tournament]

Writes docs/assets/NAME.svg. Each command runs in an empty folder, after what its example needs; a
picture shows whole lines of the output, and `…` where lines are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

ASSETS = Path(__file__).resolve().parents[1] / "docs" / "assets"
SAMPLES = {
    "right": "def largest_step(numbers):\n"
    "    return max((abs(b - a) for a, b in zip(numbers, numbers[1:])), default=0)\n",
    "wrong": "def largest_step(numbers):\n    return max(numbers, default=0)\n",
    "loops": "def largest_step(numbers):\n    while True: pass\n",
    "exits": "import os\nos._exit(0)\n",
    "equals all": "class Yes(int):\n    def __eq__(self, other): return True\n"
    "def largest_step(numbers):\n    return Yes(7)\n",
    "reads files": 'def largest_step(numbers):\n    return open("cases.jsonl").read()\n',
}
REWARD = """\
def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    if "####" not in solution_str:
        return 0.0
    answer = solution_str.split("####")[-1]
    if ground_truth in answer:
        return 1.0
    return 0.1
"""
ROWS = (
    {"prompt": "6 crates of 7 jars: how many jars? End with #### and the number.",
     "answer": "42", "correct": ["6 * 7 = 42\n#### 42"]},
    {"prompt": "From 9 to 14 o'clock: how many hours? End with #### and the number.",
     "answer": "5", "correct": ["14 - 9 = 5\n#### 5"]},
)  # fmt: skip
RIVALS = (
    "--agent baseline:gptq3 --agent baseline:mixed --agent search "
    "--agent cheater:calibrate_on_test --agent cheater:cached_logits "
    "--agent cheater:hardcoded_size"
)


@dataclass(frozen=True)
class Terminal:
    """A command, what runs before it, and the part of its output that is shown."""

    alt: str
    command: str
    first: str
    begin: str
    """Pattern of the first line shown."""
    end: str
    """Pattern of the last line shown."""
    columns: int = 88


TERMINALS = {
    "score": Terminal(
        "unhack score: of six completions one passes; the others get a real 0 with its reason.",
        "unhack score ./my-task --completions samples.jsonl",
        "unhack tasks new ./my-task",
        "^completion",
        "^reads files|^ +file or",
    ),
    "audit": Terminal(
        "unhack audit: a reward function rewards a wrong answer; the line that lets it through.",
        "unhack audit reward.py:compute_score --problems rows.jsonl --tiers 1,2",
        "true",
        "^exploitable",
        "normalisation",
    ),
    "tournament": Terminal(
        "unhack tournament: honest agents ranked by measured fitness, cheaters flagged, at 0.",
        "unhack tournament show out",
        "unhack tournament run quantization --option size=demo --rounds 3 " + RIVALS + " --out out",
        "^quantization",
        "^5 .*cheater:|^ +d_size",
        100,
    ),
}
_STYLE = """\
    .sheet { fill: #f6f8fa; stroke: #d0d7de; }
    text { fill: #1f2328; font-size: 11.6px; white-space: pre; }
    .rule { fill: #8c959f; }
    .good { fill: #1a7f37; }
    .bad { fill: #b3202b; }
    .typed { font-weight: 700; }
    @media (prefers-color-scheme: dark) {
      .sheet { fill: #161b22; stroke: #30363d; }
      text { fill: #e6edf3; }
      .rule { fill: #6e7681; }
      .good { fill: #3fb950; }
      .bad { fill: #ff7b72; }
    }"""
_WORDS = re.compile(
    r"(?P<rule>[─│╭╮╰╯]+)|(?P<good>\bpassed\b)"
    r"|(?P<bad>\b(?:failed|error|timeout|exploitable|high|substring_match|3/3)\b|####742)"
)
_ADVANCE, _LINE, _EDGE = 7.0, 17, 18


def capture(terminal: Terminal) -> list[str]:
    """The shown lines of the command's output, run in a new folder."""
    env = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "COLUMNS": str(terminal.columns),
        "OPENBLAS_NUM_THREADS": "1",
    }
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        rows = [{"id": name, "completion": code} for name, code in SAMPLES.items()]
        (place / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
        (place / "reward.py").write_text(REWARD)
        subprocess.run(["bash", "-c", terminal.first], cwd=folder, env=env, check=True)
        done = subprocess.run(
            ["bash", "-c", terminal.command],
            cwd=folder, env=env, stdout=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    lines = [line.rstrip() for line in done.stdout.split("\n")]
    begin = next(at for at, line in enumerate(lines) if re.search(terminal.begin, line))
    end = max(at for at, line in enumerate(lines) if re.search(terminal.end, line))
    return lines[begin : end + 1] + (["…"] if any(lines[end + 1 :]) else [])


def drawn(terminal: Terminal, lines: list[str]) -> str:
    """The SVG of a command and its output."""
    height = 2 * _EDGE + _LINE * (len(lines) + 1)
    width = round(2 * _EDGE + _ADVANCE * terminal.columns)
    parts = _pieces(f"$ {terminal.command}", 0, kind="typed")
    for at, line in enumerate(lines, start=1):
        parts += _pieces(line, at)
    body = "\n  ".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-labelledby="title" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, '
        "'DejaVu Sans Mono', monospace\">\n"
        f'  <title id="title">{escape(terminal.alt)}</title>\n'
        f"  <style>\n{_STYLE}\n  </style>\n"
        f'  <rect class="sheet" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" '
        f'rx="10"/>\n  {body}\n</svg>\n'
    )


def _pieces(line: str, at: int, *, kind: str = "") -> list[str]:
    """A line's words, each piece with its place and length, so that columns stand in any font."""
    found: list[str] = []
    top = _EDGE + _LINE * at + 12
    for words in re.finditer(r"\S+(?: \S+)*", line):
        last = words.start()
        marks = [] if kind else [*_WORDS.finditer(line, words.start(), words.end())]
        cuts = [(match.start(), match.end(), match.lastgroup) for match in marks]
        for begin, end, mark in (*cuts, (words.end(), words.end(), "")):
            for start, stop, name in ((last, begin, kind), (begin, end, mark)):
                text = line[start:stop].rstrip()
                lead = len(text) - len(text.lstrip())
                if text := text.lstrip():
                    x = _EDGE + _ADVANCE * (start + lead)
                    named = f' class="{name}"' if name else ""
                    long = f'textLength="{_ADVANCE * len(text):.0f}"'
                    found.append(f'<text{named} x="{x:.0f}" y="{top}" {long}>{escape(text)}</text>')
            last = end
    return found


def main() -> int:
    """Run, draw, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=list(TERMINALS), choices=list(TERMINALS))
    for name in parser.parse_args().only:
        terminal = TERMINALS[name]
        (ASSETS / f"{name}.svg").write_text(drawn(terminal, capture(terminal)), encoding="utf-8")
        print(f"written: docs/assets/{name}.svg")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
