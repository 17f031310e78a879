"""An episode as a predictions file of SWE-bench, and the file judged by hidden tests.

python examples/swe_bench.py
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.suites import find_repository_tasks
from unhack.integrations.swebench import (
    judge_predictions,
    prediction_of,
    read_predictions,
    write_predictions,
)


async def main() -> None:
    """Play the reference, write its patch, judge it. With rows of SWE-bench and local clones the
    tasks come from `load_swebench`."""
    task = next(find_repository_tasks("repos"))
    async with RepositoryWorkshop() as workshop:
        episode = workshop.begin(task)
        for path, text in task.reference.items():
            await episode.step(("write", {"path": path, "text": text}))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "preds.jsonl")
            write_predictions(path, [prediction_of(episode, model="reference")])
            report = await judge_predictions([task], read_predictions(path))
    found = report.to_json()
    print(f"resolved {found['resolved_instances']} of {found['total_instances']}")


if __name__ == "__main__":
    asyncio.run(main())
