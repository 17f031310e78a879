"""The role, how much is drawn and what is attacked, and the options that say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from unhack.core.errors import UnknownNameError, UsageError
from unhack.tournament.contests.reward_hacking.calls import no_more, number_option
from unhack.tournament.contests.reward_hacking.harden.corpora import CODE, LEAKY, TEXT, CorpusSize

ROLES = ("patch", "attack")
BOUND = 1.0
TARGET = BOUND + 0.05
_SIZE = CorpusSize()
_OPTIONS = ("role", "against", "verifiers", "problems")


@dataclass(frozen=True, slots=True)
class HardenSettings:
    """One configuration of the contest."""

    role: str = "patch"
    size: CorpusSize = _SIZE
    attacked: Mapping[str, bytes] = field(default_factory=lambda: {"solution.py": LEAKY})
    """The verifiers that are attacked: path -> content."""


def parse(options: Mapping[str, str]) -> HardenSettings:
    """Settings from `key=value` options. Raises UsageError, UnknownNameError."""
    left = dict(options)
    role = left.pop("role", ROLES[0])
    if role not in ROLES:
        raise UnknownNameError("role", role, valid=ROLES)
    against = left.pop("against", "")
    verifiers = number_option(left, "verifiers", 6)
    problems = number_option(left, "problems", 3)
    no_more(left, _OPTIONS)
    most = len(TEXT) + len(CODE)
    size = CorpusSize(min(most, max(2, verifiers)), problems)
    return HardenSettings(role, size, _attacked(role, against))


def _attacked(role: str, against: str) -> Mapping[str, bytes]:
    if not against:
        return {"solution.py": LEAKY}
    if role != "attack":
        raise UsageError("option against is for role=attack: a patch is not against anybody")
    if not (Path(against) / "solution.py").is_file():
        raise UsageError(f"option against: {against} holds no solution.py")
    return python_files(Path(against))


def python_files(folder: Path) -> dict[str, bytes]:
    """Relative path -> content of each Python file of a folder."""
    paths = sorted(path for path in folder.rglob("*.py") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}
