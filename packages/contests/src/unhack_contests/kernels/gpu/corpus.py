"""The submissions that ship: entries of the files in `submissions/cheats` and `submissions/honest`.

An entry is a table with `problem`, `about`, the source in Python (`python`) and, where there is
one, in CUDA C++ (`cuda`). A cheat adds `flag`, the flag that it must get (empty: it is invalid
without an accusation, as any wrong program is), and the numbers of the catalogue of hacks.

Covered: one problem for each entry.
Not covered: what an entry is worth.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unhack.tournament.kit import Cheat, Files

_FOLDER = Path(__file__).parent / "submissions"


@dataclass(frozen=True, slots=True)
class CorpusEntry:
    """One submission to one problem."""

    name: str
    group: str
    """The file that it stands in: its mechanism, or the language of an honest one."""
    problem: str
    about: str
    python: str
    cuda: str = ""
    flag: str = ""
    catalogue: tuple[int, ...] = ()

    @property
    def language(self) -> str:
        """`cuda`, `triton` or `torch`."""
        return "cuda" if self.cuda else "triton" if "import triton" in self.python else "torch"

    @property
    def files(self) -> Files:
        """`PROBLEM.py`, and `PROBLEM.cu` where there is one."""
        found = {f"{self.problem}.py": self.python.lstrip("\n").encode()}
        if self.cuda:
            found[f"{self.problem}.cu"] = self.cuda.lstrip("\n").encode()
        return found


@functools.cache
def entries(kind: str) -> Mapping[str, CorpusEntry]:
    """All `cheats` or all `honest` entries by name."""
    found: dict[str, CorpusEntry] = {}
    for path in sorted((_FOLDER / kind).glob("*.toml")):
        for name, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
            if name in found:
                raise ValueError(f"{path.name} has an entry {name}, which {found[name].group} has")
            numbers = tuple(table.pop("catalogue", ()))
            found[name] = CorpusEntry(name, path.stem, **table, catalogue=numbers)
    return found


def cheats(names: Sequence[str]) -> dict[str, Cheat]:
    """By name: those of these problems."""
    return {
        entry.name: Cheat(entry.files, entry.flag, "", entry.catalogue)
        for entry in entries("cheats").values()
        if entry.problem in names
    }
