"""A contest's files on disk for the time that this process runs: each side's apart.

    author/      all files of the contest: for the author's process alone
    harness/     the module that runs them
    entry/       the module that loads a submission, with the name of its main file

Covered: a folder that is changed while a tournament runs changes nothing that is measured.
Not covered: packages; they lie where `packages` put them.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from importlib import resources
from pathlib import Path

from unhack.tournament.contest import Files
from unhack.tournament.judging.submission import write_files

_INSIDE = "unhack.tournament.contests.own.inside"


class Staging:
    """The folders of one contest; they go with the object."""

    def __init__(self, files: Files, *, main: str) -> None:
        """`main`: the file that is loaded of a submission; empty where none is Python."""
        top = Path(tempfile.mkdtemp(prefix="unhack-contest-"))
        # not a TemporaryDirectory, which warns where nobody closes it
        self.close = weakref.finalize(self, shutil.rmtree, top, ignore_errors=True)
        """Remove them; done at the latest when this process ends."""
        top.chmod(0o755)
        self.author, self.harness, self.entry = top / "author", top / "harness", top / "entry"
        lay(files, self.author)
        inside = resources.files(_INSIDE)
        lay({"author.py": (inside / "author.py").read_bytes()}, self.harness)
        start = {"start.py": (inside / "submitted.py").read_bytes(), "entry.txt": main.encode()}
        lay(start, self.entry)


def lay(files: Files, folder: Path) -> Path:
    """Write files below a new folder, readable by every user id; the folder."""
    write_files(files, folder)
    for place in (folder, *folder.rglob("*")):
        place.chmod(0o755 if place.is_dir() else 0o644)
    return folder
