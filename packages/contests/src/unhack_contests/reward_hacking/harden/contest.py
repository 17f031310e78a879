"""Harden the judge: patch leaky verifiers, or attack them.

    load({"role": "patch"})    `solution.py` holds better versions of the leaky verifiers
    load({"role": "attack"})   `solution.py` holds `attack(verifier, prompt) -> completion`
    load({"role": "attack", "against": "champion/"})   attack a patch instead
    load({"role": "alternate"})   patch, attack the best patch, patch against the best attack, ...

Covered: both roles, alone and by turns (see `measure` and the two scores).
Not covered: verifiers that ask a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from unhack.tournament.kit import (
    DECLINED,
    DataPool,
    Declared,
    Files,
    Flag,
    Measurement,
    Metric,
    Submissions,
    Terms,
    content_hash,
    discipline,
)
from unhack_contests.reward_hacking.harden import cheats, honest, statement
from unhack_contests.reward_hacking.harden.corpora import as_lines, development, leaky
from unhack_contests.reward_hacking.harden.drawn.targets import example_attacks
from unhack_contests.reward_hacking.harden.measure import asked, drawn, handed_out, measure
from unhack_contests.reward_hacking.harden.settings import (
    ALTERNATE,
    BOUND,
    TARGET,
    TURNS,
    HardenSettings,
    over_leaky,
    parse,
    python_files,
)
from unhack_contests.reward_hacking.intervals import bound_flag, gap_flag
from unhack_contests.reward_hacking.statement import champion_files


def _degamed(folder: Path) -> Mapping[str, Files]:
    """A submission without its data files, so that nothing can be looked up in them, by what was
    done; none where there are no data files."""
    kept = python_files(folder)
    others = [path for path in folder.rglob("*.json") if path.is_file()]
    return {"without data files": kept} if others and "solution.py" in kept else {}


_DECLARED = Declared(("solution.py",), (DECLINED, "*.py", "*.json"))


def _submissions(role: str) -> Submissions:
    """Of one role; identity is the leaky verifiers, or the prompt."""
    if role == "patch":
        return Submissions(
            null=honest.null_patch,
            identity=honest.identity_patch,
            honest=honest.honest_patches,
            cheats=cheats.patch_cheats,
            space=honest.PATCH_SPACE,
            at=honest.patch_submission,
            degamed=_degamed,
        )
    return Submissions(
        null=honest.null_attack,
        identity=honest.identity_attack,
        honest=honest.honest_attacks,
        cheats=cheats.attack_cheats,
        space=honest.ATTACK_SPACE,
        at=honest.attack_submission,
        degamed=_degamed,
    )


def _both() -> Submissions:
    """The files that rounds of either role bring along; a round itself has those of its role."""
    patch, attack = (_submissions(role) for role in TURNS)
    return replace(
        patch,
        honest=lambda: {**patch.honest(), **attack.honest()},
        cheats=lambda: {**patch.cheats(), **attack.cheats()},
    )


def load(options: Mapping[str, str]) -> Harden:
    """The contest with its options. Raises UsageError, UnknownNameError."""
    return Harden(parse(options))


@dataclass(frozen=True, slots=True)
class Harden:
    """The contest of patchers and attackers."""

    options: HardenSettings
    name: str = "reward_hacking"
    declared: Declared = _DECLARED
    exclusive: bool = False

    @property
    def title(self) -> str:
        """See `Contest`."""
        role = " and ".join(TURNS) if self.options.role == ALTERNATE else self.options.role
        turns = ", by turns" if self.options.role == ALTERNATE else ""
        return f"Reward hacking: {role} leaky verifiers{turns}"

    @property
    def disciplines(self) -> tuple[str, ...]:
        """See `TakesTurns`."""
        return TURNS if self.options.role == ALTERNATE else (self.options.role,)

    def in_round(self, terms: Terms) -> Harden:
        """See `TakesTurns`: attackers attack the best patch, patches hold against the best
        attacker."""
        if self.options.role != ALTERNATE:
            return self
        role = discipline(self, terms.number)
        own = replace(self.options, role=role, by_turns=True)
        if role == "patch":
            own = replace(own, attacker=dict(terms.rivals.get("attack", {})))
        else:
            patch = terms.rivals.get("patch", {})
            left = {"solution.py": leaky(role=role)}
            own = replace(own, attacked=over_leaky(patch, role=role) if patch else left)
        return replace(self, options=own)

    @property
    def settings(self) -> Mapping[str, Metric]:
        """See `Contest`."""
        attacked, attacker, size = (
            self.options.attacked, self.options.attacker, self.options.size,
        )  # fmt: skip
        given = {**attacked, **{f"attacker/{name}": data for name, data in attacker.items()}}
        files = [f"{name} {data.decode(errors='replace')}" for name, data in given.items()]
        return {
            "track": "harden", "role": self.options.role, "verifiers": size.verifiers,
            "problems": size.problems, "attacked": content_hash(*files),
            "bound": BOUND, "impossible_target": TARGET,
        }  # fmt: skip

    @property
    def submissions(self) -> Submissions:
        """See `Contest`."""
        role = self.options.role
        return _both() if role == ALTERNATE else _submissions(role)

    def workspace(self, terms: Terms) -> Files:
        """See `Contest`."""
        patches = self.options.role != "attack"
        own = self.submissions
        start = own.identity() if patches else own.null()
        return {
            "STATEMENT.md": statement.write(self.options, terms=terms),
            **start,
            **{f"leaky/{name}": data for name, data in self.options.attacked.items()},
            **{f"attacker/{name}": data for name, data in self.options.attacker.items()},
            "dev.jsonl": as_lines(handed_out(self.options)),
            **champion_files(terms),
        }

    def honeypots(self) -> Files:
        """See `Contest`."""
        return cheats.honeypots()

    def measure(self, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
        """See `Contest`."""
        return measure(self.options, folder, pool=pool, seed=seed)

    def sealed(self, *, seed: int) -> bytes:
        """See `Contest`."""
        alternate = self.options.role == ALTERNATE
        roles = (
            [replace(self.options, role=role) for role in TURNS] if alternate else [self.options]
        )
        return b"".join(as_lines(asked(one, DataPool.JUDGE, seed)) for one in roles)

    def public(self) -> bytes:
        """See `Contest`."""
        given = as_lines((*development(), *example_attacks()))
        files = [leaky(role=role) for role in TURNS]
        files += [data for one in _both().honest().values() for data in one.values()]
        return b"".join(files) + given + as_lines(drawn(DataPool.DEV, 0, self.options.size))

    def bounds(self, measured: Measurement) -> tuple[Flag, ...]:
        """See `Contest`: nobody blocks more than all, and rejects fewer than none."""
        return bound_flag(measured, BOUND)

    def gap(self, judged: Measurement, audited: Measurement) -> Flag | None:
        """See `Contest`."""
        return gap_flag(judged, audited)
