"""The files that a round puts into a workspace and takes out before the submission is frozen.

Patterns such as `*.py` or `*.json` would else collect the champion's files, planted answers and
development data with every honest submission, count their bytes and flag it.

Covered: the folders `champion/` and `own_best/` and planted files go, whatever became of them; any
other file of the round goes where it is unchanged, unless it belongs to the submission that the
contest starts from. No link is followed.
Not covered: a file of the round that the agent changed; it is the agent's then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from unhack.sandbox.workspace.safe_files import open_top, read_file, remove_file, remove_files_below
from unhack.tournament.contest import Contest, Files, Terms

_SEEDS = ("champion", "own_best")


@dataclass(frozen=True, slots=True)
class WorkspaceFiles:
    """The files of a fresh workspace."""

    files: Mapping[str, bytes]
    planted: frozenset[str]
    """Honeypots."""
    kept: frozenset[str]
    """Paths that may be handed in as they were given."""

    def without(self, files: Files) -> dict[str, bytes]:
        """`files` less those of the round."""
        return {p: data for p, data in files.items() if not self._goes(p, lambda data=data: data)}

    def take_out(self, workspace: Path) -> None:
        """Remove the round's files from a workspace in which nobody is at work any more."""
        try:
            with open_top(workspace) as top:
                self._take_out(top)
        except OSError:
            return

    def _take_out(self, top: int) -> None:
        for path, content in self.files.items():
            limit = len(content) + 1
            if self._goes(
                path, lambda path=path, limit=limit: read_file(top, path, max_bytes=limit)
            ):
                remove_file(top, path)
        for name in _SEEDS:
            remove_files_below(top, name)

    def _goes(self, path: str, content: Callable[[], bytes | None]) -> bool:
        if path in self.planted or path.split("/", maxsplit=1)[0] in _SEEDS:
            return True
        if path in self.kept or path not in self.files:
            return False
        return content() == self.files[path]


def round_files(contest: Contest, terms: Terms, *, own_best: Files | None) -> WorkspaceFiles:
    """The files of a workspace in a round."""
    planted = contest.honeypots()
    files = {**planted, **contest.workspace(terms)}
    for folder, seed in zip(_SEEDS, (terms.champion, own_best), strict=True):
        if seed and not any(path.startswith(f"{folder}/") for path in files):
            files.update({f"{folder}/{path}": content for path, content in seed.items()})
    own = contest.submissions
    # data that honest programs read beside them, as their authors were given them
    used = (path for one in own.honest().values() for path in one)
    kept = frozenset((*contest.declared.required, *own.identity(), *used))
    return WorkspaceFiles(files, frozenset(planted), kept)
