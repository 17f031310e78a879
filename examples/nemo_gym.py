"""The folder of a NeMo Gym resources server for the suite `strings`.

python examples/nemo_gym.py Gym/resources_servers/unhack_tasks
gym env start --resources-server unhack_tasks --model-type vllm_model
"""

from __future__ import annotations

import sys
from pathlib import Path

from unhack.integrations.nemo_gym.folder import write_server


def main() -> None:
    """Write it, and tell what it holds."""
    folder = Path(sys.argv[1])
    write_server(folder, ["strings"])
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        print(path.relative_to(folder))
    rows = (folder / "data" / "train.jsonl").read_text().count("\n")
    print(f"{rows} rows")


if __name__ == "__main__":
    main()
