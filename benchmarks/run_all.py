"""Every published figure, one script after the other; then the README's table.

make bench
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = (
    "peers/setup_peers.py",
    "scoring_speed.py",
    "fork_cost.py",
    "cold_start.py",
    "straggler.py",
    "scaling.py",
    "humaneval_fidelity.py",
    "reasoning_gym_scored.py",
    "audit_quality.py",
    "audit_peers.py",
    "audit_real.py",
    "soak.py",
    "figures.py",
)


def main() -> int:
    """Run them; the exit code says whether all met their own bounds."""
    failed = []
    for script in SCRIPTS:
        print(f"== {script}", flush=True)
        if subprocess.run([sys.executable, str(HERE / script)], check=False).returncode:
            failed.append(script)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
