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
from functools import partial
from pathlib import Path

from unhack.core.hashing import content_hash
from unhack.tournament.contest import (
    DECLINED,
    DataPool,
    Declared,
    Files,
    Flag,
    Measurement,
    Metric,
    Submissions,
    Terms,
    discipline,
)
from unhack_contests.reward_hacking.harden import cheats, degame, honest, statement
from unhack_contests.reward_hacking.harden.corpora import HARD, as_lines
from unhack_contests.reward_hacking.harden.hard import honest as hard_honest
from unhack_contests.reward_hacking.harden.levels import (
    development,
    example_attacks,
    leaky,
)
from unhack_contests.reward_hacking.harden.measure import (
    asked,
    drawn,
    handed_out,
    measure,
)
from unhack_contests.reward_hacking.harden.settings import (
    ALTERNATE,
    BOUND,
    TARGET,
    TURNS,
    HardenSettings,
    over_leaky,
    parse,
)
from unhack_contests.reward_hacking.intervals import bound_flag, gap_flag
from unhack_contests.reward_hacking.statement import champion_files

_DECLARED = Declared(("solution.py",), (DECLINED, "*.py", "*.json"))


def _submissions(role: str, level: str) -> Submissions:
    """Of one role at one level; identity is the leaky verifiers, or the prompt."""
    own = hard_honest if level == HARD else honest
    if role == "patch":
        return Submissions(
            null=honest.null_patch,
            identity=partial(honest.identity_patch, level),
            honest=own.honest_patches,
            cheats=partial(cheats.patch_cheats, level),
            space=own.PATCH_SPACE,
            at=own.patch_submission,
            degamed=degame.variants,
        )
    return Submissions(
        null=own.null_attack,
        identity=own.identity_attack,
        honest=own.honest_attacks,
        cheats=partial(cheats.attack_cheats, level),
        space=own.ATTACK_SPACE,
        at=own.attack_submission,
        degamed=degame.variants,
    )


def _both(level: str) -> Submissions:
    """The files that rounds of either role bring along; a round itself has those of its role."""
    patch, attack = (_submissions(role, level) for role in TURNS)
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
            level = self.options.level
            left = {"solution.py": leaky(level, role=role)}
            own = replace(own, attacked=over_leaky(patch, level, role=role) if patch else left)
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
            "track": "harden", "role": self.options.role, "level": self.options.level,
            "verifiers": size.verifiers,
            "problems": size.problems, "attacked": content_hash(*files),
            "bound": BOUND, "impossible_target": TARGET,
        }  # fmt: skip

    @property
    def submissions(self) -> Submissions:
        """See `Contest`."""
        role, level = self.options.role, self.options.level
        return _both(level) if role == ALTERNATE else _submissions(role, level)

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
        return cheats.honeypots(self.options.level)

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
        level = self.options.level
        given = as_lines((*development(level), *example_attacks(level)))
        files = [leaky(level, role=role) for role in TURNS]
        files += [data for one in _both(level).honest().values() for data in one.values()]
        return b"".join(files) + given + as_lines(drawn(DataPool.DEV, 0, self.options.size))

    def bounds(self, measured: Measurement) -> tuple[Flag, ...]:
        """See `Contest`: nobody blocks more than all, and rejects fewer than none."""
        return bound_flag(measured, BOUND)

    def gap(self, judged: Measurement, audited: Measurement) -> Flag | None:
        """See `Contest`."""
        return gap_flag(judged, audited)
