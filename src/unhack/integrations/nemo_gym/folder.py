"""The folder of a NeMo Gym resources server for our tasks; it needs no package of theirs.

    write_server(Path("resources_servers/unhack"), ["strings"])

Covered: app.py, configs/NAME.yaml with an agent, requirements.txt, data/example.jsonl of up to five
tasks and data/train.jsonl of all.
Not covered: repository tasks, whose many turns an agent of NeMo Gym would have to play.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from unhack.core.errors import UsageError
from unhack.integrations.task_names import name_of
from unhack.tasks.suite import find_tasks

_EXAMPLES = 5
_APP = """\
from unhack.integrations.nemo_gym.server import TaskResourcesServer

if __name__ == "__main__":
    TaskResourcesServer.run_webserver()
"""
_CONFIG = """\
{name}:
  resources_servers:
    {name}:
      entrypoint: app.py
      domain: coding
      description: Tasks of unhack, judged in a sealed sandbox
{name}_simple_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      resources_server:
        type: resources_servers
        name: {name}
      model_server:
        type: responses_api_models
        name: policy_model
      datasets:
      - name: example
        type: example
        jsonl_fpath: resources_servers/{name}/data/example.jsonl
      - name: train
        type: train
        jsonl_fpath: resources_servers/{name}/data/train.jsonl
        license: Apache 2.0
"""
_REQUIREMENTS = "-e nemo-gym[dev] @ ../../\nunhack\n"


def task_rows(names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each task: `responses_create_params` and `verifier_metadata`.

    Raises UsageError, TaskError.
    """
    for name in names:
        for task in find_tasks(name):
            yield {
                "responses_create_params": {"input": [{"role": "user", "content": task.prompt}]},
                "verifier_metadata": {"task": name_of(task)},
            }


def write_server(folder: Path, names: Sequence[str]) -> None:
    """Write the folder; its last name is the server's.

    Raises UsageError where it has files in it, without tasks, and for an unknown name.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty: name a folder that is to be made")
    if not folder.name.isidentifier():
        raise UsageError(f"{folder.name!r} is no name of a server: letters, digits and _ only")
    if isinstance(names, str) or not names:
        raise UsageError("names is a list of tasks, suites or directories, such as ['strings']")
    lines = [json.dumps(row) + "\n" for row in task_rows(names)]
    files = {
        "app.py": _APP,
        f"configs/{folder.name}.yaml": _CONFIG.format(name=folder.name),
        "requirements.txt": _REQUIREMENTS,
        "data/example.jsonl": "".join(lines[:_EXAMPLES]),
        "data/train.jsonl": "".join(lines),
    }
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
