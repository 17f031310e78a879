"""The judge of a Harbor folder: clean files, what the agent hands in, and the folder's script.

    judge = ScriptJudge(task, task_workspace(task, pool, image))
    reason = await judge.check()              # "" where its grades can be believed
    verdict = await judge.outcome(state)

The script runs on the start files, in an image, or in a workspace of this host whose `.harbor`
stands for /tests, /logs and /solution. Onto them comes what the agent changed, below the declared
paths where there are any. Left out, and named, is what the grader's own programs would obey: in an
image the folders of PATH, but for a new program that the statement names by its full path and the
image has nowhere, and of the interpreter's path, files of the root directory and places of
the system that the tests do not name; anywhere, new files with the names of the interpreter's
modules, metadata of packages, byte code, settings of a test runner, a shell or git, and links that
lead to the grader's files.

Covered: a grade is believed only if on this host the script came to its end on the untouched
workspace with all its tools, gave a reward below 1 there, and gave the reference 1; a reward of a
script that was killed is void; `/tests` cannot be written to while the script runs; pytest runs
each test in a process of its own (`grader_plugin`).
Not covered: what code of the agent makes of the one test that loads or starts it, the tests that it
reads then, and files that it writes for later ones; other runners, in whose process it can forge
what the script writes. The verdict is marked weaker.
Source: the Harbor documentation, task structure and verifier.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from unhack.core.errors import TaskError, UsageError
from unhack.core.verdict import Seal, Status, Verdict, unscored_verdict
from unhack.environments.judges.handed_in import LINKED, HandInRules, Interpreter, JudgedChanges
from unhack.environments.sources.loaders.harbor import OWN, HarborTask, read_reward
from unhack.environments.sources.loaders.task_image import TaskImage
from unhack.sandbox.images.store import ImageStore
from unhack.sandbox.job import TIME_LIMITS
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import Command, CommandResult
from unhack.sandbox.workspace.image_root import ImageRoot
from unhack.sandbox.workspace.layers import read_stored
from unhack.sandbox.workspace.states import WorkspaceState
from unhack.sandbox.workspace.tree import Changes, StoredFile

LIMITS = Limits(
    wall_s=600, cpu_s=600, memory_bytes=2048 * MIB, processes=512, open_files=1024,
    file_bytes=512 * MIB, output_bytes=256 * 1024, disk_bytes=1024 * MIB,
)  # fmt: skip
PLUGIN = (Path(__file__).parent / "grader_plugin.py").read_bytes()
START = (Path(__file__).parent / "grader_start.py").read_bytes()
_MISSING = "/logs/missing-commands"
_STARTED = "logs/pytest-started"
"""Written by the grader's plugin."""
_HOOK = (
    "() { [[ $0 == /tests/* || ( $0 != /* && -e /tests/${0##*/} ) ]] && "
    f'echo "$1" >> {_MISSING}; echo "$1: command not found" >&2; return 127; }}'
)
"""Of the grader's own scripts: one of the workspace that a test runs may lack what it likes."""
_ASK = (
    "import json, pkgutil, site, sys; own = [p for p in sys.path if p and (sys.argv[1:] or "
    "p.endswith('-packages') or p.startswith((sys.prefix + '/lib', sys.base_prefix + '/lib')))]; "
    "print(json.dumps([own + "
    "[site.getusersitepackages()], sorted({m.name for m in pkgutil.iter_modules(own)} | "
    "set(sys.builtin_module_names) | set(getattr(sys, 'stdlib_module_names', ())))]))"
)
_RUN = (
    "export PYTHONPATH=/.unhack${PYTHONPATH:+:$PYTHONPATH}; "
    'export PYTEST_ADDOPTS="-p unhack_grader $PYTEST_ADDOPTS"; exec bash /tests/test.sh'
)
_OPEN = (
    "find /workspace -type d ! -perm -700 -exec chmod u+rwx {} ';' -o "
    "-type f ! -perm -400 -exec chmod u+r {} ';'; "
)
"""On this host the grader is no root, from whom an agent could close what it shall not see."""
_MOST_NAMED = 20
_LARGEST_SHOWN, _MOST_SHOWN, _MOST_SHOWN_FILES = 64 << 10, 4 << 20, 400
"""Bytes of one file, of all, and the number of files of an image that are shown outside it."""
_PROGRAMS = (b"#!", b"\x7fELF")
"""The first bytes of files that are run; content alone says no mode."""


def pool_of_folder(workdir: str, *, slots: int) -> CommandPool:
    """The supervisors of folders without an image: this host's programs, and `workdir`, /tests,
    /logs and /solution as the folder has them."""
    links = [(f"/{name}", f"/workspace/{OWN}/{name}") for name in LINKED]
    if workdir != "/workspace":
        links.append((workdir, "/workspace"))
    return CommandPool(slots=slots, links=tuple(links))


@dataclass(frozen=True, slots=True)
class TaskWorkspace:
    """A clean start of a task, and the supervisors that run commands on it.

    Example:

        TaskWorkspace(CommandPool(image=image), start, image)
    """

    pool: CommandPool
    start: WorkspaceState
    image: ImageRoot | None = None
    """None for this host's programs."""

    def path(self, place: str) -> str:
        """The path of a grader's file in a state: `tests/test.sh`, or below the folder for it."""
        return place if self.image else f"{OWN}/{place}"

    def shown_files(self) -> dict[str, bytes]:
        """The small text files of an image's working folder, by their paths in the state; none
        where that folder is the root directory."""
        found: dict[str, bytes] = {}
        base, left = self.start.start or "", _MOST_SHOWN
        for path, node in self.start.tree.walk() if base else ():
            fits = isinstance(node, StoredFile) and node.size <= min(_LARGEST_SHOWN, left)
            if not fits or not path.startswith(f"{base}/") or len(found) >= _MOST_SHOWN_FILES:
                continue
            assert isinstance(node, StoredFile)
            data = read_stored(node)
            if b"\0" not in data:
                found[path] = data
                left -= node.size
        return found


def load_image(task: HarborTask, wanted: TaskImage, images: ImageStore) -> ImageRoot:
    """The root directory of an image of a task. Raises TaskError where it is not built."""
    found = images.load(wanted.source.key)
    if found is None:
        raise TaskError(f"an image of {task.id} is not built: run `unhack env build` on its folder")
    return wanted.over(found)


def task_workspace(task: HarborTask, pool: CommandPool, image: ImageRoot | None) -> TaskWorkspace:
    """The workspace in which agents begin."""
    start = pool.states.untouched() if image else pool.states.load(task.files)
    return TaskWorkspace(pool, start, image)


@dataclass(slots=True)
class _Control:
    """The result of trying the grader on this host."""

    reason: str
    """Why its grades are not believed; empty where they are."""
    with_pytest: bool = False
    """True where pytest ran: a later run without it is none."""
    untouched: float = 0.0
    interpreter: Interpreter = field(default_factory=Interpreter)


class ScriptJudge:
    """Judges states of one task, each in a clean workspace.

    Example:

        judge = ScriptJudge(task, task_workspace(task, pool, image))
        verdict = await judge.outcome(state)
    """

    def __init__(
        self, task: HarborTask, workspace: TaskWorkspace, *, own: TaskWorkspace | None = None
    ) -> None:
        """Agents work in `workspace`; the script runs in `own`, by default in that too."""
        self.task, self.workspace, self._own = task, workspace, own or workspace
        self._limits = LIMITS.with_(
            wall_s=task.timeout_s, cpu_s=task.timeout_s, memory_bytes=task.memory_bytes
        )
        self._rules = HandInRules(task, start=workspace.start, image=workspace.image)
        self._control: asyncio.Task[_Control] | None = None

    async def check(self) -> str:
        """Why grades cannot be believed here; empty where they can. The control runs once."""
        return (await self._controlled()).reason

    async def outcome(self, state: WorkspaceState) -> Verdict:
        """The verdict on a state."""
        control = await self._controlled()
        if control.reason:
            return unscored_verdict(control.reason)
        handed = self._rules.applied(state, control.interpreter)
        result, after = await self._graded(handed.changes)
        if control.with_pytest and after.tree.find(self._own.path(_STARTED)) is None:
            reason = "pytest did not start, as it does on the untouched workspace"
            return self._marked(Status.FAILED, 0.0, f"{reason}{_last_line(result)}", {})
        return self._verdict(result, after, handed, control)

    async def outcome_of(self, files: Mapping[str, bytes]) -> Verdict:
        """The verdict on the declared files of a workspace that is somewhere else."""
        try:
            state = self.state_of(files)
        except UsageError as error:  # a file where a folder is, or below a link
            return self._marked(Status.FAILED, 0.0, f"it cannot be laid: {error}", {})
        return await self.outcome(state)

    def state_of(self, files: Mapping[str, bytes]) -> WorkspaceState:
        """The state with the declared files of a workspace that is somewhere else: a declared file
        of the start that is not among them is gone, but not where all of an image is declared.

        Raises UsageError for what does not fit onto the start."""
        states, start = self.workspace.pool.states, self.workspace.start
        all_of_image = self.workspace.image is not None and not self.task.declared
        there = () if all_of_image else start.tree.files()
        edits: dict[str, bytes | None] = {one: None for one in there if self.task.may_change(one)}
        edits |= {path: data for path, data in files.items() if self.task.may_change(path)}
        runs = {path for path, data in edits.items() if data and data.startswith(_PROGRAMS)}
        return states.edited(start, edits, executable=runs) if edits else start

    async def progress(self, state: WorkspaceState) -> Verdict | None:
        """None: a folder has no tests by which steps could be paid."""
        del state
        return None

    async def left_out(self, state: WorkspaceState) -> Mapping[str, str]:
        """The paths that would not be handed in of a state, with the reasons."""
        return self._rules.applied(state, (await self._controlled()).interpreter).left_out

    async def handed_in(self, state: WorkspaceState) -> Changes:
        """The changes that would be handed in of a state."""
        return self._rules.applied(state, (await self._controlled()).interpreter).changes

    async def solution_state(self) -> WorkspaceState:
        """The state that the folder's own solution leaves. Raises TaskError without it."""
        if not self.task.solution:
            raise TaskError(f"{self.task.id}: there is no solution/solve.sh")
        return await self._solved()

    async def solved(self) -> dict[str, bytes]:
        """The declared files that the folder's own solution leaves, and where all of an image is
        declared the changed ones. Raises TaskError without it."""
        state = await self.solution_state()  # its layers hold the files until they are read
        found = state.tree.files()
        if self.workspace.image is not None and not self.task.declared:
            changes = await self.handed_in(state)
            found = {path: one for path, one in changes.items() if isinstance(one, StoredFile)}
        return {path: read_stored(one) for path, one in found.items() if self.task.may_change(path)}

    def _controlled(self) -> asyncio.Future[_Control]:
        if self._control is None or (self._control.done() and self._control.exception()):
            self._control = asyncio.ensure_future(self._make_control())
        return asyncio.shield(self._control)

    async def _make_control(self) -> _Control:
        interpreter = await self._ask_interpreter()
        if interpreter is None:
            return _Control("the grader's python3 does not say where it looks for modules")
        untouched = self._rules.applied(self.workspace.start, interpreter)
        result, after = await self._graded(untouched.changes)
        missing = after.read(self._own.path(_MISSING.strip("/")), max_bytes=2000)
        lacking = {*(missing or b"").decode(errors="replace").split()}
        lacking = {name for name in lacking if not self._rules.asks_for(name)}
        if lacking:
            names = ", ".join(sorted(lacking))
            where = "in its image" if self._own.image else "on this host"
            return _Control(f"the grader lacks a program {where}: {names}")
        started = after.tree.find(self._own.path(_STARTED)) is not None
        if not started and self._calls_pytest() and not self.task.solution:
            return _Control(f"pytest does not start for the grader{_last_line(result)}")
        reward, reason = self._reward_of(result, after)
        if reward is None:
            end = _last_line(result)
            return _Control(f"on the untouched workspace the grader left no reward: {reason}{end}")
        if reward >= 1.0:
            return _Control("the grader gives the untouched workspace a full reward")
        if self.task.solution:
            solved = await self._solved()  # its layers hold the files until they are laid
            handed = self._rules.applied(solved, interpreter)
            result, after = await self._graded(handed.changes)
            best, reason = self._reward_of(result, after)
            if best is None or best < 1.0 or best <= reward:
                got = reason if best is None else f"it gets {best:g}"
                return _Control(f"the task's own solution does not pass here: {got}")
        return _Control("", started, reward, interpreter)

    def _calls_pytest(self) -> bool:
        """True for a script that speaks of pytest beside its comments."""
        script = self.task.tests.get("test.sh", b"")  # an image of the tests' own may bring it
        lines = script.decode(errors="replace").splitlines()
        return any("pytest" in line for line in lines if not line.lstrip().startswith("#"))

    async def _ask_interpreter(self) -> Interpreter | None:
        """The places and the modules of the grader's Python, empty where it has none; None where
        that does not say."""
        # Here PYTHONPATH is the engine's; in an image it is the task's, and agents may work there.
        here = () if self._own.image else ("all",)
        command = Command(("python3", "-c", _ASK, *here), as_root=True)
        result, _ = await self._own.pool.run(self._own.start, command, limits=LIMITS)
        if result.exit_code == 127:  # there is no such program
            return Interpreter()
        try:
            places, modules = json.loads(result.stdout)
        except ValueError:
            return None
        return Interpreter(tuple(one.strip("/") for one in places), frozenset(modules))

    async def _solved(self) -> WorkspaceState:
        workspace = self.workspace
        laid = {
            workspace.path(f"solution/{path}"): data for path, data in self.task.solution.items()
        }
        start = workspace.pool.states.edited(workspace.start, laid)
        command = Command(("bash", "/solution/solve.sh"), environ=self.task.solution_environ)
        _, after = await workspace.pool.run(start, command, limits=self._limits)
        own = {path: None for path, data in laid.items() if after.read(path) == data}
        return workspace.pool.states.edited(after, own)  # no agent has these files

    async def _graded(self, changes: Changes) -> tuple[CommandResult, WorkspaceState]:
        """Lay the changes and the tests into a clean workspace and run the script."""
        own = self._own
        start = own.pool.states.laid(own.start, changes)
        files = {own.path(f"tests/{path}"): data for path, data in self.task.tests.items()}
        brought = own.start.tree
        if self.task.judge_image and brought.find("tests/test.sh") is not None:
            files = {path: data for path, data in files.items() if brought.find(path) is None}
        files[own.path(".unhack/unhack_grader.py")] = PLUGIN
        files[own.path(".unhack/sitecustomize.py")] = START
        if not own.image:
            files[own.path("logs/verifier/.keep")] = files[own.path("logs/artifacts/.keep")] = b""
        start = own.pool.states.edited(start, files)
        environ = {
            **self.task.environ,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNOUSERSITE": "1",
            "BASH_FUNC_command_not_found_handle%%": _HOOK,
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "core.fsmonitor",
            "GIT_CONFIG_VALUE_0": "false",
        }
        command = Command(
            ("bash", "-c", _RUN if own.image else _OPEN + _RUN),
            environ=environ,
            as_root=True,
            read_only=(own.path("tests"), own.path(".unhack")),
        )
        return await own.pool.run(start, command, limits=self._limits)

    def _verdict(
        self, result: CommandResult, after: WorkspaceState, handed: JudgedChanges, control: _Control
    ) -> Verdict:
        named = dict(list(handed.left_out.items())[:_MOST_NAMED])
        details = {
            "untouched": control.untouched, "tests_apart": control.with_pytest,
            "left_out": named, "left_out_count": len(handed.left_out),
        }  # fmt: skip
        reward, reason = self._reward_of(result, after)
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
        return self._marked(status, reward or 0.0, reason, details)

    def _marked(
        self, status: Status, score: float, reason: str, more: Mapping[str, object]
    ) -> Verdict:
        image = self._own.image
        mode = {"mode": "graded in its image", "image": image.id} if image else {
            "mode": "graded apart", "artifacts": list(self.task.artifacts)
        }  # fmt: skip
        return Verdict(status, score, reason, seal=Seal.AS_WRITTEN, details={**mode, **more})

    def _reward_of(self, result: CommandResult, after: WorkspaceState) -> tuple[float | None, str]:
        """The reward that the script has left, or why there is none."""
        if result.limit:
            return None, f"the tests hit the limit {result.limit}"
        if result.signal is not None:
            return None, f"the grader was ended by signal {result.signal}"
        return read_reward(after, self._own.path("logs/verifier"))


def _last_line(result: CommandResult) -> str:
    lines = (result.stderr or result.stdout).strip().splitlines()
    return f" (exit code {result.exit_code}" + (f": {lines[-1][:160]})" if lines else ")")
