"""A contest's folder: its parts, what its `contest.toml` says, and the hash of every file.

    contest.toml    name, title, bound, files that may be handed in, sizes, limits, packages, cheats
    statement.md    what every agent reads
    generator.py    draw(rng, settings) -> cases
    measure.py      measure(submission, cases) -> scores
    start/          what every workspace begins with
    null/           an entry that does nothing of use
    honest/NAME/    honest entries
    cheats/NAME/    entries that game the contest
    planted/        files that only a cheat opens (may be left out)

Files are read once; what is measured with is that copy, whatever becomes of the folder meanwhile.

Covered: missing parts, keys and values that make no sense, links, files that are too large.
Not covered: whether the parts do what they should; `proof` finds out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from unhack.core.errors import UnknownNameError, UsageError
from unhack.core.hashing import content_hash
from unhack.tournament.contest import DECLINED, Files
from unhack.tournament.contests.own.settings import FolderSettings, read_settings
from unhack.tournament.judging.flags import FLAG_KINDS

SETTINGS = "contest.toml"
_SINGLE = ("statement.md", "generator.py", "measure.py")
_ENTRIES = ("start", "null")
_KINDS = ("honest", "cheats")
_PUBLIC = ("statement.md", "start", "planted")
_MAX_BYTES = 256 << 20
_MAX_FILES = 10_000
_PASSED_BY = ("__pycache__",)


@dataclass(frozen=True, slots=True)
class ContestFolder:
    """A contest's folder as it was read."""

    path: Path
    settings: FolderSettings
    files: Files
    """Every file: relative path -> content."""

    def below(self, part: str) -> dict[str, bytes]:
        """The files below a folder, by their paths in it."""
        head = f"{part}/"
        return {name[len(head) :]: data for name, data in self.files.items()
                if name.startswith(head)}  # fmt: skip

    def names(self, kind: str) -> tuple[str, ...]:
        """The entries of `honest` or `cheats`: those that `contest.toml` names first."""
        # a note that lies beside the entries is none
        paths = [name.split("/") for name in self.files]
        found = sorted({path[1] for path in paths if path[0] == kind and len(path) > 2})
        first = [name for name in self.settings.honest if name in found] if kind == "honest" else []
        return (*first, *(name for name in found if name not in first))

    @property
    def hashes(self) -> Mapping[str, str]:
        """The first digits of the SHA-256 of each file."""
        return MappingProxyType(
            {name: hashlib.sha256(data).hexdigest()[:16] for name, data in self.files.items()}
        )

    @property
    def digest(self) -> str:
        """Over all names and contents."""
        return content_hash(*(part for item in sorted(self.files.items()) for part in item))

    @property
    def hidden(self) -> dict[str, bytes]:
        """The files that no agent is given: all but the statement, the start and planted files."""
        return {name: data for name, data in self.files.items()
                if name.split("/")[0] not in _PUBLIC}  # fmt: skip


def is_folder(name: str) -> bool:
    """True for an argument that means a folder, not a contest of the package."""
    return "/" in name or Path(name).is_dir()


def read_folder(path: Path) -> ContestFolder:
    """The contest in a folder. Raises UsageError that names the part and says what to do."""
    if not path.is_dir():
        raise UsageError(f"{path}: no such folder; `unhack tournament new {path}` writes one")
    files = _read_files(path)
    if SETTINGS not in files:
        raise UsageError(
            f"{path}: there is no {SETTINGS}; `unhack tournament new DIR` writes a whole contest"
        )
    settings = read_settings(files[SETTINGS], path / SETTINGS)
    found = ContestFolder(path, settings, files)
    _check_parts(found)
    return found


def _read_files(path: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    left = _MAX_BYTES
    for place in sorted(path.rglob("*")):
        name = place.relative_to(path).as_posix()
        if any(part.startswith(".") or part in _PASSED_BY for part in name.split("/")):
            continue
        if place.is_symlink():
            raise UsageError(f"{place}: a link; a contest's folder holds the files themselves")
        if not place.is_file():
            continue
        try:
            files[name] = place.read_bytes()
        except OSError as error:
            raise UsageError(f"{place}: {error.strerror}") from None
        left -= len(files[name])
        if left < 0 or len(files) > _MAX_FILES:
            raise UsageError(
                f"{path}: more than {_MAX_BYTES >> 20} MiB or {_MAX_FILES} files; is it a "
                "contest's folder?"
            )
    return files


def _check_parts(found: ContestFolder) -> None:
    for name in _SINGLE:
        if not found.files.get(name, b"").strip():
            raise UsageError(f"{found.path}: {name} is missing or empty")
    try:
        found.files[_SINGLE[0]].decode()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{found.path}: {_SINGLE[0]} is no UTF-8: see the byte at {error.start}"
        ) from None
    required = found.settings.required
    for name in _ENTRIES:
        _check_entry(found, name, required)
    for kind in _KINDS:
        names = found.names(kind)
        if not names:
            raise UsageError(f"{found.path}: {kind}/ is missing or holds no folder with an entry")
        for name in names:
            _check_entry(found, f"{kind}/{name}", required)
    for name in found.settings.honest:
        if name not in found.names("honest"):
            raise UsageError(f"{found.path}: {SETTINGS} names the honest entry {name!r}, and "
                             f"honest/{name}/ is missing or empty")  # fmt: skip
    _check_cheats(found)


def _check_entry(found: ContestFolder, name: str, required: tuple[str, ...]) -> None:
    files = found.below(name)
    if DECLINED in files:
        raise UsageError(f"{found.path}: {name}/ holds {DECLINED}, which hands in nothing")
    missing = [file for file in required if file not in files]
    if missing:
        raise UsageError(f"{found.path}: {name}/ lacks {', '.join(missing)}, which every entry "
                         f"has to hold (`required` in {SETTINGS})")  # fmt: skip


def _check_cheats(found: ContestFolder) -> None:
    names = found.names("cheats")
    for name, cheat in found.settings.cheats.items():
        if name not in names:
            raise UsageError(f"{found.path}: {SETTINGS} has [cheats.{name}], and "
                             f"cheats/{name}/ is missing or empty")  # fmt: skip
        if cheat.flag and cheat.flag not in FLAG_KINDS:
            raise UnknownNameError(f"flag of the cheat {name}", cheat.flag, valid=FLAG_KINDS)
    silent = [name for name in names if name not in found.settings.cheats]
    if silent:
        raise UsageError(
            f"{found.path}: {SETTINGS} does not say which flag the cheat {silent[0]!r} must get; "
            f'add [cheats.{silent[0]}] with flag = "KIND", or earns = "nothing"'
        )
