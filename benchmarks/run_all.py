"""Make every record that two CPU cores can make without a network, then the pages and pictures.

make bench
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from catalogue import RECORDS

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Run them; the exit code says whether all met their own bounds."""
    failed = []
    commands = [record.words for record in RECORDS if not record.needs]
    for words in (*commands, ["python", "benchmarks/figures.py"]):
        print(f"== {' '.join(words)}", flush=True)
        command = [sys.executable, *words[1:]]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            failed.append(" ".join(words))
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
