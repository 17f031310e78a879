"""A verifier of Harbor that judges on the host, in our sandbox.

    # job config
    verifier: {import_path: "unhack.integrations.harbor.verifier:HostVerifier"}

A folder that `export_task` wrote is judged as the task itself is, sealed; any other folder by
`ScriptJudge`, which lays the declared artefacts onto fresh files, or onto an image where there is
one, and runs `tests/test.sh` in a sandbox without network. Nothing of a verdict is read from the
container but the artefacts.

Covered: Harbor 0.25's keywords; three tries, then UnhackError, which Harbor books as the trial's
exception; an answer that is missing or too large is a 0; links among the artefacts are left out.
Not covered: several steps and sidecars, which `read_harbor` refuses; an image is built before, by
`unhack env build`.
Source: Harbor 0.25.0, `BaseVerifier`, `BaseEnvironment`.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from harbor.models.verifier.result import VerifierResult
from harbor.verifier.base import BaseVerifier

from unhack.core.errors import UnhackError
from unhack.core.verdict import Verdict
from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.judges.script_judge import ScriptJudge
from unhack.environments.sources.loaders.harbor import read_harbor
from unhack.integrations.harbor.container_judge import read_answer
from unhack.integrations.harbor.task_folder import PLAN
from unhack.tasks.execution.choosing import shared_scheduler
from unhack.tasks.suite import find_task
from unhack.verifiers.base import invalid_verdict
from unhack.verifiers.reward import reward_of

_MOST_BYTES = 32 << 20
"""Of all artefacts of a trial."""


class HostVerifier(BaseVerifier):
    """Judges a trial's artefacts on the host.

    Harbor makes it, from the path in a job's configuration.

    Example:

        verifier = {"import_path": "unhack.integrations.harbor.verifier:HostVerifier"}
    """

    async def verify(self) -> Any:
        """The rewards: `{"reward": score}`. Raises UnhackError for what cannot be scored."""
        if self.step_name is not None:
            raise UnhackError(f"step {self.step_name!r}: tasks of several steps are not supported")
        folder = Path(self.task.paths.task_dir)
        with tempfile.TemporaryDirectory() as place:
            if (folder / "tests" / PLAN).exists():
                verdict = await self._of_task(folder / "tests", Path(place))
            else:
                verdict = await self._of_folder(folder, Path(place))
        reward = reward_of(verdict)
        if reward is None:
            raise UnhackError(f"{folder.name}: not scored after three tries: {verdict.reason}")
        return VerifierResult(rewards={"reward": reward})

    async def _of_task(self, tests: Path, place: Path) -> Verdict:
        plan = json.loads((tests / PLAN).read_text())
        row = "" if plan["row"] is None else f"#{plan['row']}"
        task = find_task(f"{tests}/task{row}")
        await self._fetch(f"/app/{plan['answer']}", place / "answer")
        answer = read_answer(place / "answer")
        if answer is None:
            return invalid_verdict(f"there is no {plan['answer']}, or it is none that is judged")
        return await shared_scheduler().judge(task, answer)

    async def _of_folder(self, folder: Path, place: Path) -> Verdict:
        task = read_harbor(folder)
        if task.image and not task.declared:
            raise UnhackError(f"{folder.name}: task.toml declares no artifacts to fetch")
        for path in task.artifacts:
            await self._fetch(f"{task.workdir}/{path}".rstrip("/"), place / path)
        paths = [Path(top, name) for top, _, names in os.walk(place) for name in names]
        paths = [path for path in paths if stat.S_ISREG(path.lstat().st_mode)]
        if sum(path.lstat().st_size for path in paths) > _MOST_BYTES:
            return invalid_verdict(f"the artefacts are more than {_MOST_BYTES >> 20} MiB")
        found = {path.relative_to(place).as_posix(): path.read_bytes() for path in paths}
        async with RepositoryWorkshop(slots=1) as workshop:
            judge = workshop.judge(task)
            assert isinstance(judge, ScriptJudge)
            return await judge.outcome_of(found)

    async def _fetch(self, source: str, target: Path) -> None:
        """Copy a file or a folder out of the container; what is not there is left out."""
        if await self.environment.is_dir(source):
            target.mkdir(parents=True, exist_ok=True)
            await self.environment.download_dir(source, target)
        elif await self.environment.is_file(source):
            target.parent.mkdir(parents=True, exist_ok=True)
            await self.environment.download_file(source, target)
