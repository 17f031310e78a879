"""The role, how much is drawn, what is attacked and by whom, and the options that say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from unhack.tournament.kit import DataPool, UnknownNameError, UsageError
from unhack_contests.reward_hacking.calls import number_options
from unhack_contests.reward_hacking.harden.corpora import FAMILIES, CorpusSize, leaky
from unhack_contests.reward_hacking.harden.drawn.targets import NOTES, narrow_files
from unhack_contests.reward_hacking.harden.verifiers import VerifierBench
from unhack_contests.submission import RefusedError, files_of

TURNS = ("patch", "attack")
"""The disciplines of rounds 1, 2, ... where the roles take turns."""
ALTERNATE = "alternate"
ROLES = (*TURNS, ALTERNATE)
BOUND = 1.0
TARGET = BOUND + 0.05
_SIZE = CorpusSize()
_PATCHED, _LEAKY_ONES = "patched_verifiers", "leaky_verifiers"


@dataclass(frozen=True, slots=True)
class HardenSettings:
    """One configuration of the contest."""

    role: str = "patch"
    size: CorpusSize = _SIZE
    attacked: Mapping[str, bytes] = field(default_factory=lambda: {"solution.py": leaky()})
    """The verifiers that are attacked: path -> content."""
    attacker: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The attacker that a patch has to hold against besides the corpus; empty for none."""
    by_turns: bool = False
    """True where this is one round of an alternation."""

    def attacked_in(self, pool: DataPool, seed: int) -> Mapping[str, bytes]:
        """The target of one measurement: leaky verifiers are those of its draw."""
        return {
            **self.attacked,
            self._leaky_file: leaky(pool, seed, role="attack"),
        }

    def noted_in(self, pool: DataPool, seed: int) -> Mapping[str, bytes]:
        """The same as the judge runs it (see `leaks.leaky_source`)."""
        return {**self.attacked, self._leaky_file: narrow_files(pool, seed, noted=True), **NOTES}

    @property
    def unpatched(self) -> frozenset[str]:
        """Names of the verifiers that no patch of the target defines."""
        patch = self.attacked.get(f"{_PATCHED}.py", b"")
        return frozenset({*FAMILIES} - VerifierBench({"solution.py": patch}).defined())

    @property
    def _leaky_file(self) -> str:
        return f"{_LEAKY_ONES}.py" if f"{_LEAKY_ONES}.py" in self.attacked else "solution.py"


def parse(options: Mapping[str, str]) -> HardenSettings:
    """Settings from `key=value` options. Raises UsageError, UnknownNameError."""
    role = options.get("role", ROLES[0])
    if role not in ROLES:
        raise UnknownNameError("role", role, valid=ROLES)
    usual = {"verifiers": _SIZE.verifiers, "problems": _SIZE.problems}
    found = number_options(options, usual, others=("role", "against"))
    size = CorpusSize(min(len(FAMILIES), max(2, found["verifiers"])), found["problems"])
    return HardenSettings(role, size, _attacked(role, options.get("against", "")))


def _attacked(role: str, against: str) -> Mapping[str, bytes]:
    if not against:
        return {"solution.py": leaky(role=role)}
    if role != "attack":
        raise UsageError("option against is for role=attack: a patch is not against anybody")
    if not (Path(against) / "solution.py").is_file():
        raise UsageError(f"option against: {against} holds no solution.py")
    try:
        return over_leaky(python_files(Path(against)), role=role)
    except RefusedError as refused:
        raise UsageError(f"option against: {against}: {refused.reason}") from None


def over_leaky(patch: Mapping[str, bytes], *, role: str = "patch") -> dict[str, bytes]:
    """A patch as files that define every verifier: those that it leaves are the leaky ones of the
    role.

    Raises RefusedError where its `solution.py` cannot be read.
    """
    own = VerifierBench(patch).defined() & {*FAMILIES}
    left = [name for name in FAMILIES if name not in own]
    lines = [f"from {_PATCHED} import {name}" for name in sorted(own)]
    lines += [f"from {_LEAKY_ONES} import {name}" for name in left]
    return {
        **patch,
        f"{_PATCHED}.py": patch["solution.py"],
        f"{_LEAKY_ONES}.py": leaky(role=role),
        "solution.py": ("\n".join(lines) + "\n").encode(),
    }


def python_files(folder: Path) -> dict[str, bytes]:
    """Relative path -> content of each Python file of a folder."""
    return {name: data for name, data in files_of(folder).items() if name.endswith(".py")}
