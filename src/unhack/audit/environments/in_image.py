"""Audits of Harbor folders with an image: the start in it as a repository task, plays by the
folder's own judge, and the attacks that cannot be played in it.

    task, attacks = await task_in_image(folder, images)
    plays = ImageEpisodes(folder, images)
    plays.why_not(attack, task)               # "the image lacks git", or ""

Covered: agents and grader as in `unhack env run`, apart from each other; paths relative to the
working folder, and absolute ones elsewhere; the oracle runs the tests' functions in the image, on
what was handed in and on what the solution leaves.
Not covered: large or binary files of the working folder, which attacks do not see; an oracle for
tests that are no Python, or have an image of their own: what passes them is undecided, no finding.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from unhack.audit.environments.attack import AgentView, AttackRoute, EnvironmentAttack, Sent
from unhack.audit.environments.attacks.named_files import named_file_attacks
from unhack.audit.environments.episode_runner import ATTACK_LIMITS, actions_of, before, finish
from unhack.audit.environments.foreign.container import AttackPlay
from unhack.core.errors import TaskError
from unhack.environments.actions import RunCommand, Submit
from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.episode import Episode
from unhack.environments.judges.handed_in import speaks_of_git
from unhack.environments.judges.script_judge import ScriptJudge
from unhack.environments.sources.loaders.harbor import HarborTask
from unhack.environments.task import RepositoryTask
from unhack.sandbox.images.store import ImageStore
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import shell
from unhack.sandbox.workspace.layers import read_stored
from unhack.sandbox.workspace.tree import Removed, StoredFile

_MOST_COMMAND = 100_000
"""Characters of a command that an image's shell can be given."""
_PROGRAMS = ("python3", "git")
"""Programs that attacks run besides those of every system."""
_OF_CODE = (AttackRoute.SOURCE, AttackRoute.MEANING)


class ImageEpisodes:
    """Plays episodes of one folder in its image.

    Example:

        play = await ImageEpisodes(folder, ImageStore()).play(task, [Submit()])
    """

    def __init__(self, folder: HarborTask, images: ImageStore) -> None:
        """Raises TaskError where the image is not built."""
        self._folder = folder
        self.workshop = RepositoryWorkshop(slots=1, limits=ATTACK_LIMITS, images=images)
        parts = self.workshop.begin(folder).parts
        assert isinstance(parts.judge, ScriptJudge)
        self._judge = parts.judge
        self.commands: CommandPool = parts.commands
        """The supervisors of the image."""
        self._lacking: tuple[str, ...] | None = None

    async def play(
        self, task: RepositoryTask, actions: Sequence[Sent], *, before: Sequence[Sent] = ()
    ) -> AttackPlay:
        """See `EpisodeRunner`."""
        del task
        if before:
            await finish(self._begin(), [*before, Submit()])
        return await self._played(self._begin(), actions)

    async def solve(self, task: RepositoryTask) -> AttackPlay | None:
        """Hand in what the folder's own solution leaves; None without one."""
        del task
        if not self._folder.solution:
            return None
        parts, state = self._begin().parts, await self._judge.solution_state()
        return await self._played(Episode(self._folder, state, parts), [Submit()])

    async def why_not(self, attack: EnvironmentAttack, task: RepositoryTask) -> str:
        """Why an attack cannot be played on the task; empty where it can."""
        if attack.route in _OF_CODE and not AgentView.of(task).has_code:
            return "no Python file is handed in"
        if attack.route is AttackRoute.LEAK and speaks_of_git(self._folder.statement):
            return "the statement speaks of a repository, whose history is its matter"
        if attack.accomplice is not None and not self._folder.solution:
            return "no solution is there for its accomplice"
        said = [*actions_of(attack, task), *before(attack, task)]
        commands = [one.command for one in said if isinstance(one, RunCommand)]
        if self._lacking is None:
            text = f"for p in {' '.join(_PROGRAMS)}; do command -v $p >&2 || echo $p; done"
            start = self._judge.workspace.start
            result, _ = await self.commands.run(start, shell(text), limits=ATTACK_LIMITS.command)
            self._lacking = tuple(result.stdout.split())
        words = {word.strip("$();`") for text in commands for word in text.split()}
        missing = [one for one in self._lacking if one in words]
        if missing:
            return f"the image lacks {missing[0]}"
        return "a command is too long" if any(len(c) > _MOST_COMMAND for c in commands) else ""

    def close(self) -> None:
        """End every process."""
        self.workshop.close()

    def _begin(self) -> Episode:
        return self.workshop.begin(self._folder)

    async def _played(self, episode: Episode, actions: Sequence[Sent]) -> AttackPlay:
        outcome, reason, paid = await finish(episode, actions)
        states, changes = self.commands.states, await self._judge.handed_in(episode.state)
        handed = states.laid(self._judge.workspace.start, changes)
        tests = {f"tests/{path}": data for path, data in self._folder.tests.items()}
        return AttackPlay(outcome, {}, reason, paid, state=states.edited(handed, tests))


async def task_in_image(
    folder: HarborTask, images: ImageStore
) -> tuple[RepositoryTask, tuple[EnvironmentAttack, ...]]:
    """The start of a folder's agent in its image, with what the solution changes as the reference,
    and the attacks on the files that it names. Without a solution, the files that the statement
    names stand for those that it would change.

    Raises TaskError where the image is not built, or neither says what is handed in.
    """
    async with RepositoryWorkshop(slots=1, images=images) as workshop:
        judge = workshop.judge(folder)
        assert isinstance(judge, ScriptJudge)
        start = judge.workspace.start
        base, reference = (start.start or "").strip("/"), dict[str, str | None]()
        solved = await judge.solution_state() if folder.solution else start
        for path, change in (await judge.handed_in(solved)).items():
            if isinstance(change, StoredFile):
                text = read_stored(change).decode(errors="surrogateescape")
                reference[_shown(path, base)] = text
            elif isinstance(change, Removed):
                reference[_shown(path, base)] = None
        editable = [*map(_editable, reference)]
        if not folder.solution:
            editable = [_shown(path, base) for path in _named(folder)]
            reference = dict.fromkeys(editable)
        if not reference:
            asked = "its statement names no file" if not folder.solution else "it hands in no file"
            raise TaskError(f"{folder.id}: no audit without a solution to compare with: {asked}")
        task = RepositoryTask(
            id=folder.id,
            statement=folder.statement,
            files={
                _shown(path, base): data for path, data in judge.workspace.shown_files().items()
            },
            editable=tuple(dict.fromkeys(editable)),
            tests={path: data.decode(errors="replace") for path, data in folder.tests.items()},
            reference=reference,
            fail_to_pass=("test.sh::reward",),
        )

        def given(path: str) -> bool:
            return start.tree.find(posixpath.join(f"/{base}", path).lstrip("/")) is not None

        attacks = named_file_attacks(task, base=f"/{base}", given=given)
        return task, attacks


def _named(folder: HarborTask) -> list[str]:
    """The absolute paths of files that the statement names, and those that are declared."""
    words = [word.strip("`'\"*.,:;()[]{}<>") for word in folder.statement.split()]
    named = [word for word in words if word.startswith("/") and "." in word.rpartition("/")[2]]
    return [*folder.declared, *(one.lstrip("/") for one in named if ".." not in one.split("/"))]


def _shown(path: str, base: str) -> str:
    """A path as an agent in the working folder names it."""
    return path.removeprefix(f"{base}/") if base and path.startswith(f"{base}/") else f"/{path}"


def _editable(path: str) -> str:
    """The place that holds a file of the reference: a folder, where it stands in one."""
    if path.startswith("/"):
        folder = path.rpartition("/")[0]
        return f"{folder}/" if folder else path
    return path.split("/", maxsplit=1)[0] + "/" if "/" in path else path
