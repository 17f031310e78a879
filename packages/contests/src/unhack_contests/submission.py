"""Submissions as every contest takes them: their files, and why one of them is refused."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

from unhack.tournament.kit import Computer, Flag, Measurement, content_hash, invalid

_LEAVES = ("SystemExit", "KeyboardInterrupt", "GeneratorExit")


class RefusedError(Exception):
    """A submission that cannot be measured, or broke a rule.

    Example:

        except RefusedError as refused:
            return refused.measured()
    """

    def __init__(self, reason: str, *flags: Flag) -> None:
        super().__init__(reason)
        self.reason, self.flags = reason, flags

    def measured(self) -> Measurement:
        """The measurement that comes of it."""
        return invalid(self.reason, *self.flags)


def flagged(kind: str, text: str) -> RefusedError:
    """The refusal of what earns a flag of that kind; reason and evidence are the same text."""
    return RefusedError(text, Flag(kind, text, "judge"))


def left(computer: Computer, text: str, *, said: str = "") -> tuple[Flag, ...]:
    """The flag of a process that ended by itself, with success, while it was asked; `text`: the
    evidence, `said`: its last error."""
    by_name = said.partition(":")[0] in _LEAVES
    return (Flag("forged_verdict", text, "judge"),) if by_name or computer.left else ()


def files_of(folder: Path) -> dict[str, bytes]:
    """Relative path -> content of every regular file of a folder, in order."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


@contextlib.contextmanager
def staged(folder: Path, beside: str, client: Path) -> Generator[Path]:
    """A copy of the submission with a file beside it, for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="unhack-staged-") as name:
        place = Path(name) / "files"
        shutil.copytree(folder, place)
        shutil.copyfile(client, place / beside)
        yield place


def digest_of(folder: Path) -> str:
    """The content of a folder's files, as one name."""
    return content_hash(*(part for item in files_of(folder).items() for part in item))
