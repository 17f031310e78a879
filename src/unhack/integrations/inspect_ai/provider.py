# pyright: basic, reportMissingImports=false
"""A sandbox for Inspect AI, sealed by the kernel: no Docker, no image, no network.

    inspect eval my_eval.py --sandbox unhack
    inspect eval my_eval.py --sandbox unhack:limits.toml

Covered: files in /workspace, /tmp and the home last from one command to the next, as long as the
sample; programs and libraries are those of the host's /usr and Python, read-only; nothing else of
the host can be seen; commands of one sample run one after another, samples at the same time.
Not covered: processes that outlive their command, and so `exec_remote` and the tools that Inspect
injects; users; a network; several named sandboxes of a sample; images, compose files.
Source: Inspect AI 0.3.285, `SandboxEnvironment`.
"""

from __future__ import annotations

import tomllib
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    sandboxenv,
)
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unhack.core import errors
from unhack.integrations.inspect_ai.machine import (
    MachineLimits,
    SealedMachine,
    close_shared_host,
    shared_host,
)
from unhack.integrations.inspect_ai.waiting import result_of
from unhack.sandbox.limits import MIB
from unhack.sandbox.workspace.commands import CommandResult

T = TypeVar("T")
_CANNOT_RUN = 126
_alive: set[int] = set()
"""Ids of the sandboxes whose samples go on."""


class SealedSandboxConfig(BaseModel):
    """The limits of a sandbox: the value of `sandbox=("unhack", config)`, or a TOML file.

    Example:

        config = SealedSandboxConfig(wall_s=60.0, memory_mib=1024)
        inspect_ai.Task(dataset=samples, sandbox=("unhack", config))
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    wall_s: float = Field(default=600.0, gt=0, allow_inf_nan=False)
    """Seconds of a command whose caller sets no timeout."""
    memory_mib: int = Field(default=2048, gt=0)
    """Of the processes of a command."""
    disk_mib: int = Field(default=512, gt=0)
    """Of all files together."""
    processes: int = Field(default=256, gt=0)
    """Processes and threads at once."""

    def limits(self) -> MachineLimits:
        """The same in bytes."""
        return MachineLimits(
            wall_s=self.wall_s,
            memory_bytes=self.memory_mib * MIB,
            disk_bytes=self.disk_mib * MIB,
            processes=self.processes,
        )


@sandboxenv(name="unhack")
class SealedSandbox(SandboxEnvironment):
    """The sealed machine of one sample.

    Inspect makes it for each sample of a task that names it.

    Example:

        task = inspect_ai.Task(dataset=samples, sandbox="unhack")
        result = await inspect_ai.util.sandbox().exec(["python", "solution.py"])
    """

    @classmethod
    async def sample_init(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        metadata: dict[str, str],
    ) -> dict[str, SandboxEnvironment]:
        """A fresh machine, called `default`. Raises UsageError for another configuration."""
        return {"default": cls(_config(config))}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """Let go of the files."""
        for one in environments.values():
            one.as_type(SealedSandbox).close()

    @classmethod
    async def task_cleanup(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, cleanup: bool
    ) -> None:
        """End the supervisors when no other evaluation uses them."""
        if not _alive:
            close_shared_host()

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        """The limits of a log. Raises UsageError."""
        return _checked(config, "config")

    def __init__(self, config: SealedSandboxConfig | None = None) -> None:
        super().__init__()
        self._machine = SealedMachine(shared_host(), (config or SealedSandboxConfig()).limits())
        _alive.add(id(self))

    def close(self) -> None:
        """Let go of the files."""
        self._machine.forget()
        _alive.discard(id(self))

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        **timing: Any,
    ) -> ExecResult[str]:
        """Run a command; every process that it started is dead before this returns.

        Arguments that no program can be given are a failed result with words: a model chose them.
        `timing` is `timeout` in seconds, and `timeout_retry` and `concurrency`, which mean nothing
        here: what timed out is not tried again, and commands wait for a core anyway.
        Raises what Inspect's own base class says; SandboxUserUnsupportedError for any `user`.
        """
        if user is not None:
            raise SandboxUserUnsupportedError(
                f"no user {user!r}: commands run as one user, `agent`"
            )
        machine = self._machine
        timeout: int | None = timing.get("timeout")
        most = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        wall_s = float(timeout) if timeout is not None else machine.limits.wall_s
        limits = machine.limits.of_command(wall_s=wall_s, output_bytes=most)
        try:
            data = input.encode() if isinstance(input, str) else input or b""
            job = machine.run(cmd, stdin=data, cwd=cwd or "", environ=env, limits=limits)
            found = await _done(machine.host.submit(job))
        except (errors.UsageError, UnicodeEncodeError) as error:
            return ExecResult(False, _CANNOT_RUN, "", f"{error}\n")
        return _result(cmd, found, wall_s)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file. Raises IsADirectoryError, PermissionError and other OSError."""
        data = contents.encode() if isinstance(contents, str) else contents
        await _done(self._machine.host.submit(self._machine.write(file, data)))

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """The content of a file. Raises FileNotFoundError, IsADirectoryError, PermissionError,
        OutputLimitExceededError, UnicodeDecodeError."""
        most = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        job = self._machine.read(file, max_bytes=most)
        data = await _done(self._machine.host.submit(job))
        if len(data) > most:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return data.decode() if text else data


async def _done(future: Future[T]) -> T:
    try:
        return await result_of(future)
    except (errors.SandboxUnavailableError, errors.SandboxError) as error:
        raise SandboxUnavailableError(str(error)) from None


def _result(cmd: list[str], found: CommandResult, wall_s: float) -> ExecResult[str]:
    if found.limit == "wall":
        raise TimeoutError(f"the command did not end within {wall_s:g} s")
    if found.cut_bytes or found.limit == "output":
        most = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        longer = max(found.stdout, found.stderr, key=len)
        raise OutputLimitExceededError(
            SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, longer[:most]
        )
    if found.exit_code == 127 and found.stderr == f"{cmd[0]}: Permission denied\n":
        raise PermissionError(13, "Permission denied", cmd[0])
    words = f"ended by its limit of {found.limit}\n" if found.limit else ""
    code = found.exit_code if found.exit_code is not None else 128 + (found.signal or 0)
    return ExecResult(found.ok, code, found.stdout, found.stderr + words)


def _config(config: object) -> SealedSandboxConfig:
    if config is None or isinstance(config, SealedSandboxConfig):
        return config or SealedSandboxConfig()
    if not isinstance(config, str):
        kind = type(config).__name__
        raise errors.UsageError(
            f"sandbox config is a {kind}: give a SealedSandboxConfig or the path of a TOML file"
        )
    try:
        values = tomllib.loads(Path(config).read_text())
    except (OSError, ValueError) as error:
        raise errors.UsageError(f"sandbox config {config}: {error}") from None
    return _checked(values, config)


def _checked(values: dict[str, Any], where: str) -> SealedSandboxConfig:
    try:
        return SealedSandboxConfig.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise errors.UsageError(f"sandbox config {where}: {name}: {first['msg']}") from None
