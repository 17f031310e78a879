"""A suite as Harbor folders, and the verdict of one of them without a container.

python examples/harbor.py out
harbor run -p out -a oracle        # with Harbor and docker: every reward is 1
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from unhack.integrations.harbor.writing import export_all


def reward(folder: Path, *, solved: bool) -> float:
    """The reward that the folder's own `test.sh` writes, here."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as app, tempfile.TemporaryDirectory() as logs:
        if solved:
            subprocess.run(["bash", folder / "solution" / "solve.sh", app], check=True)
        test = ["bash", folder / "tests" / "test.sh", app, logs]
        subprocess.run(test, env={**os.environ, "PATH": path}, check=True)
        return json.loads(Path(logs, "reward.json").read_text())["reward"]


def main() -> None:
    """Export, then judge the first folder with its solution and with nothing."""
    folders = list(export_all(["strings"], Path(sys.argv[1])))
    first = folders[0]
    print(f"{len(folders)} folders; {first.name}:", end=" ")
    print(f"oracle {reward(first, solved=True)}, no-op {reward(first, solved=False)}")


if __name__ == "__main__":
    main()
