"""The judge of a task with an image: a clean image, what the agent hands in, and a script.

    judge = ImageJudge(task, image, pool)
    reason = await judge.check()              # "" where its grades can be believed
    verdict = await judge.outcome(state)

Handed in is what the agent changed below the declared paths. Where none are declared, that is all
but (each is left out and named): what the grader's own programs would find (folders of PATH, of the
interpreter's path, its module names in new places, package metadata, byte code), places of the
system, unless the tests name one, and links that lead to the grader's files.

Covered: a grade is believed only if on this host the script came to its end on the untouched
workspace with all its tools, gave a reward below 1 there, and gave the reference 1; a reward of a
script that was killed is void; `/tests` cannot be written to while the script runs; pytest runs
each test in a process of its own (`grader_plugin`).
Not covered: what code of the agent makes of the one test that loads or starts it, the tests that it
reads then, and files that it writes for later ones; other runners, in whose process it can forge
what the script writes. The verdict is marked weaker.
"""

from __future__ import annotations

import asyncio
import json
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from unhack.core.verdict import Seal, Status, Verdict, unscored_verdict
from unhack.environments.sources.loaders.harbor import HarborTask, read_reward
from unhack.sandbox.job import TIME_LIMITS
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import Command, CommandResult
from unhack.sandbox.workspace.image_root import ImageRoot
from unhack.sandbox.workspace.states import WorkspaceState
from unhack.sandbox.workspace.tree import (
    Changes,
    Folder,
    NewFolder,
    Removed,
    StoredLink,
)

LIMITS = Limits(
    wall_s=600, cpu_s=600, memory_bytes=2048 * MIB, processes=512, open_files=1024,
    file_bytes=512 * MIB, output_bytes=256 * 1024, disk_bytes=1024 * MIB,
)  # fmt: skip
_GRADERS = ("tests", "logs", "solution", ".unhack")
PLUGIN = (Path(__file__).parent / "grader_plugin.py").read_bytes()
_KERNELS = ("proc", "dev", "sys")
_SYSTEMS = ("bin", "boot", "etc", "lib", "lib32", "lib64", "libx32", "run", "sbin", "usr",
            "var/cache", "var/lib/apt", "var/lib/dpkg")  # fmt: skip
_PROGRAMS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr/bin", "usr/sbin", "usr/lib",
             "usr/lib32", "usr/lib64", "usr/libexec", "usr/local/bin", "usr/local/sbin",
             "usr/local/lib", "etc/ld.so.preload", "etc/ld.so.conf", "etc/ld.so.conf.d",
             "etc/ld.so.cache")  # fmt: skip
"""The places of programs and their libraries: left out, whatever the tests name."""
_METADATA = (".dist-info", ".egg-info", ".egg-link", ".pth")
_SUFFIXES = (".py", ".pyc", ".so")
_MAX_LINKS = 40
_MISSING = "/logs/missing-commands"
_STARTED = "logs/pytest-started"
"""Written by the grader's plugin."""
_HOOK = f'() {{ echo "$1" >> {_MISSING}; echo "$1: command not found" >&2; return 127; }}'
_ASK = (
    "import json, pkgutil, site, sys; print(json.dumps([[p for p in sys.path if p] + "
    "[site.getusersitepackages()], sorted({m.name for m in pkgutil.iter_modules()} | "
    "set(sys.builtin_module_names) | set(getattr(sys, 'stdlib_module_names', ())))]))"
)
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class JudgedChanges:
    """The changes that a judge takes of a state, and those that it leaves out."""

    changes: Changes
    left_out: Mapping[str, str]
    """Path -> reason."""


@dataclass(frozen=True, slots=True)
class _Interpreter:
    """The places and names that the image's own Python resolves."""

    places: tuple[str, ...] = ()
    modules: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Control:
    """The result of trying the grader on this host."""

    reason: str
    """Why its grades are not believed; empty where they are."""
    with_pytest: bool = False
    """True where pytest ran: a later run without it is none."""
    untouched: float = 0.0
    interpreter: _Interpreter = field(default_factory=_Interpreter)


class ImageJudge:
    """Judges states of one task in its image.

    Example:

        judge = ImageJudge(task, image, CommandPool(image=image))
        verdict = await judge.outcome(state)
    """

    def __init__(self, task: HarborTask, image: ImageRoot, pool: CommandPool) -> None:
        self.task, self.image, self._pool = task, image, pool
        self._limits = LIMITS.with_(
            wall_s=task.timeout_s, cpu_s=task.timeout_s, memory_bytes=task.memory_bytes
        )
        self._control: asyncio.Task[_Control] | None = None
        texts = [*task.tests.values(), task.statement.encode()]
        self._named = b"\n".join(texts).decode(errors="replace")

    async def check(self) -> str:
        """Why grades cannot be believed here; empty where they can. The control runs once."""
        return (await self._controlled()).reason

    async def outcome(self, state: WorkspaceState) -> Verdict:
        """The verdict on a state."""
        control = await self._controlled()
        if control.reason:
            return unscored_verdict(control.reason)
        handed = self.handed_in(state, control.interpreter)
        result, after = await self._graded(handed.changes)
        if control.with_pytest and after.tree.find(_STARTED) is None:
            details = {"mode": "graded in its image", "image": self.image.id}
            reason = (
                f"pytest did not start, as it does on the untouched workspace{_last_line(result)}"
            )
            return Verdict(Status.FAILED, 0.0, reason, seal=Seal.AS_WRITTEN, details=details)
        return self._verdict(result, after, handed, control)

    async def progress(self, state: WorkspaceState) -> Verdict | None:
        """None: a folder has no tests by which steps could be paid."""
        del state
        return None

    async def left_out(self, state: WorkspaceState) -> Mapping[str, str]:
        """The paths that would not be handed in of a state, with the reasons."""
        return self.handed_in(state, (await self._controlled()).interpreter).left_out

    def _controlled(self) -> asyncio.Future[_Control]:
        if self._control is None or (self._control.done() and self._control.exception()):
            self._control = asyncio.ensure_future(self._make_control())
        return asyncio.shield(self._control)

    async def _make_control(self) -> _Control:
        interpreter = await self._ask_interpreter()
        if interpreter is None:
            return _Control("the image's python3 does not say where it looks for modules")
        result, after = await self._graded({})
        missing = after.read("logs/missing-commands", max_bytes=2000)
        if missing:
            names = ", ".join(sorted(set(missing.decode(errors="replace").split())))
            return _Control(f"the grader lacks a program in its image: {names}")
        started = after.tree.find(_STARTED) is not None
        if not started and self._calls_pytest():
            return _Control(f"pytest does not start in the image{_last_line(result)}")
        reward, reason = _reward_of(result, after)
        if reward is None:
            end = _last_line(result)
            return _Control(f"on the untouched workspace the grader left no reward: {reason}{end}")
        if reward >= 1.0:
            return _Control("the grader gives the untouched workspace a full reward")
        if self.task.solution:
            solved = await self._solved()  # its layers hold the files until they are laid
            handed = self.handed_in(solved, interpreter)
            result, after = await self._graded(handed.changes)
            best, reason = _reward_of(result, after)
            if best is None or best < 1.0 or best <= reward:
                got = reason if best is None else f"it gets {best:g}"
                return _Control(f"the task's own solution does not pass here: {got}")
        return _Control("", started, reward, interpreter)

    def _calls_pytest(self) -> bool:
        """True for a script that speaks of pytest beside its comments."""
        lines = self.task.tests["test.sh"].decode(errors="replace").splitlines()
        return any("pytest" in line for line in lines if not line.lstrip().startswith("#"))

    async def _ask_interpreter(self) -> _Interpreter | None:
        """The path and the modules of the image's Python, empty where it has none; None where that
        does not say."""
        command = Command(("python3", "-c", _ASK), cwd="root", as_root=True)
        result, _ = await self._pool.run(self._pool.states.untouched(), command, limits=LIMITS)
        if result.exit_code == 127:  # there is no such program
            return _Interpreter()
        try:
            places, modules = json.loads(result.stdout)
        except ValueError:
            return None
        return _Interpreter(tuple(one.strip("/") for one in places), frozenset(modules))

    async def _solved(self) -> WorkspaceState:
        states = self._pool.states
        laid = {f"solution/{path}": data for path, data in self.task.solution.items()}
        start = states.edited(states.untouched(), laid)
        command = Command(("bash", "/solution/solve.sh"))
        _, after = await self._pool.run(start, command, limits=self._limits)
        return after

    async def _graded(self, changes: Changes) -> tuple[CommandResult, WorkspaceState]:
        """Lay the changes and the tests onto a clean image and run the script."""
        states = self._pool.states
        start = states.laid(states.untouched(), changes)
        files = {f"tests/{path}": data for path, data in self.task.tests.items()}
        files[".unhack/unhack_grader.py"] = PLUGIN
        start = states.edited(start, files)
        own = {**self.image.environ, **self.task.environ}
        environ = {
            **self.task.environ,
            "PYTHONPATH": ":".join(filter(None, ("/.unhack", own.get("PYTHONPATH", "")))),
            "PYTEST_ADDOPTS": f"-p unhack_grader {own.get('PYTEST_ADDOPTS', '')}".strip(),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNOUSERSITE": "1",
            "BASH_FUNC_command_not_found_handle%%": _HOOK,
        }
        command = Command(
            ("bash", "/tests/test.sh"),
            environ=environ,
            as_root=True,
            read_only=("tests", ".unhack"),
        )
        return await self._pool.run(start, command, limits=self._limits)

    def _verdict(
        self, result: CommandResult, after: WorkspaceState, handed: JudgedChanges, control: _Control
    ) -> Verdict:
        named = dict(list(handed.left_out.items())[:_MOST_NAMED])
        details = {
            "mode": "graded in its image", "image": self.image.id, "untouched": control.untouched,
            "left_out": named, "left_out_count": len(handed.left_out),
        }  # fmt: skip
        reward, reason = _reward_of(result, after)
        if result.limit:
            status = Status.TIMEOUT if result.limit in TIME_LIMITS else Status.LIMIT
        else:
            status = Status.PASSED if reward == 1.0 else Status.FAILED
        if reward is not None and reward < 1.0:
            reason = f"the reward is {reward:g}{_last_line(result)}"
        if handed.left_out and reward != 1.0:
            path, why = next(iter(handed.left_out.items()))
            more = f" and {len(handed.left_out) - 1} more" if len(handed.left_out) > 1 else ""
            reason += f"; left out: {path} ({why}){more}"
        return Verdict(status, reward or 0.0, reason, seal=Seal.AS_WRITTEN, details=details)

    def handed_in(self, state: WorkspaceState, interpreter: _Interpreter) -> JudgedChanges:
        """The changes that the judge takes of a state."""
        taken: Changes = {}
        left: dict[str, str] = {}
        for path, change in state.changes().items():
            if not path:
                continue
            why = self._refused(path, change, state, interpreter)
            if not why:
                taken[path] = change
            elif not isinstance(change, NewFolder):
                left[path] = why
        return JudgedChanges(taken, left)

    def _refused(
        self, path: str, change: object, state: WorkspaceState, interpreter: _Interpreter
    ) -> str:
        """Why a change is left out; empty where it is handed in."""
        if _below(path, _GRADERS) or _below(path, _KERNELS):
            return "a place of the grader's"
        if isinstance(change, StoredLink) and not _leads_to_data(state.tree, path):
            return "a link that leads to the grader's files"
        if self.task.declared:
            above = any(one.startswith(f"{path}/") for one in self.task.declared)
            declared = _below(path, self.task.declared) or (
                above and isinstance(change, NewFolder) and self.image.tree.find(path) is None
            )
            return "" if declared else "not below a declared path"
        searched = (*_PROGRAMS, *interpreter.places, *_path_folders(self.image))
        if _below(path, searched):
            return "the grader's own programs would find it"
        if "/" not in path and not isinstance(change, NewFolder):
            return "a file of the root directory"
        if _below(path, _SYSTEMS) and f"/{path}" not in self._named:
            return "a place of the system, which the tests do not name"
        return self._shadow(path, change, interpreter)

    def _shadow(self, path: str, change: object, interpreter: _Interpreter) -> str:
        """Why a new file could be taken for a part of the grader's interpreter."""
        if isinstance(change, Removed) or self.image.tree.find(path) is not None:
            return ""
        *folders, name = path.split("/")
        if "__pycache__" in folders or name.endswith(".pyc"):
            return "byte code"
        own = next((at for at, one in enumerate(folders) if one.endswith("-packages")), None)
        if own is not None:
            return ""  # an environment of the agent's, in which only its own interpreter looks
        if any(one.endswith(_METADATA) for one in (*folders, name)):
            return "metadata of a package"
        module = name.partition(".")[0]
        if name.startswith("__init__.") and folders:
            module = folders[-1]
        elif not name.endswith(_SUFFIXES):
            return ""
        if module in interpreter.modules and not self._names(path):
            return f"it would stand for the module {module}"
        return ""

    def _names(self, path: str) -> bool:
        """True where the tests or the statement speak of a file."""
        return f"/{path}" in self._named or posixpath.basename(path) in self._named


def _below(path: str, places: tuple[str, ...]) -> bool:
    return any(place in ("", path) or path.startswith(f"{place}/") for place in places)


def _path_folders(image: ImageRoot) -> list[str]:
    return [one.strip("/") for one in image.environ.get("PATH", "").split(":") if one.strip("/")]


def _leads_to_data(tree: Folder, path: str) -> bool:
    """True for a link that ends, by way of other links, at nothing of the grader's."""
    left = path.split("/")
    at: list[str] = []
    followed = 0
    while left:
        part = left.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            at = at[:-1]
            continue
        at.append(part)
        node = tree.find("/".join(at))
        if isinstance(node, StoredLink):
            followed += 1
            if followed > _MAX_LINKS:
                return False
            at.pop()
            if node.target.startswith("/"):
                at = []
            left = node.target.split("/") + left
    end = "/".join(at)
    return bool(end) and not _below(end, (*_GRADERS, *_KERNELS))


def _reward_of(result: CommandResult, after: WorkspaceState) -> tuple[float | None, str]:
    """The reward that a script has left, or why there is none."""
    if result.limit:
        return None, f"the tests hit the limit {result.limit}"
    if result.signal is not None:
        return None, f"the grader was ended by signal {result.signal}"
    return read_reward(after, "logs/verifier")


def _last_line(result: CommandResult) -> str:
    lines = (result.stderr or result.stdout).strip().splitlines()
    return f" (exit code {result.exit_code}" + (f": {lines[-1][:160]})" if lines else ")")
