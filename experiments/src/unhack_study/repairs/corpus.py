"""Text that a base model learns from: states of the world and the next action of an author.

The first part is by a careful author, who reads what is closed, fixes what is wrong and hands in
what is right. The rest is by a careless one, who mostly does anything that can be done; so a model
of this text knows what a name asks for and still errs, and reinforcement has something to sharpen.
Only packages of the pretraining split occur. Reports of tests in this text come from the meaning of
the operators, without a run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from unhack_study.repairs.actions import RepairAction, action_text
from unhack_study.repairs.cases import flags
from unhack_study.repairs.judging import Repair, make_repair, read_flags
from unhack_study.repairs.packages import draw_package
from unhack_study.repairs.world import TURNS, RepairState, view

PACKAGES = 400
"""Of the pretraining split."""


@dataclass(frozen=True, slots=True)
class RepairAuthor:
    """Habits: with probability `careful` the sensible action, else anything that can be done."""

    careful: float
    right: float
    """Probability that a fix by chance is the right one besides."""


CAREFUL = RepairAuthor(careful=0.9, right=0.5)
CARELESS = RepairAuthor(careful=0.1, right=0.2)
CAREFUL_SHARE = 0.6


def documents(seed: int, *, careful: int) -> Iterator[tuple[bytes, bytes]]:
    """Endless (what is read, action with its stop): `careful` of the careful author, then the
    careless one's."""
    rng = random.Random(f"repairs corpus {seed}")
    number = 0
    while True:
        author = CAREFUL if number < careful else CARELESS
        state = _draw_state(rng)
        yield view(state).encode(), f"{action_text(next_action(state, author, rng))}\n".encode()
        number += 1


def next_action(state: RepairState, author: RepairAuthor, rng: random.Random) -> RepairAction:
    """The author's next action in a state."""
    sites = state.repair.package.sites
    closed = [index for index in range(len(sites)) if index not in state.opened]
    wrong = [
        index for index in sorted(state.opened) if state.operators[index] != sites[index].right
    ]
    if rng.random() < author.careful:
        if wrong and (not closed or rng.random() < 0.5):
            return _fix(sites[(site := rng.choice(wrong))].right, site)
        if closed:
            return RepairAction("read", rng.choice(closed))
        return RepairAction("submit" if rng.random() < 0.8 else "test")
    draw = rng.random()
    if draw < 0.05:
        return RepairAction("submit")
    if draw < 0.15:
        return RepairAction("test")
    if not state.opened or (closed and draw < 0.5):
        return RepairAction("read", rng.choice(closed or range(len(sites))))
    site = rng.choice(sorted(state.opened))
    right = rng.random() < author.right
    return _fix(sites[site].right if right else rng.choice(sites[site].options), site)


def _fix(operator: str, site: int) -> RepairAction:
    return RepairAction("fix", site, operator)


@lru_cache(maxsize=PACKAGES)
def _repair(number: int) -> Repair:
    return make_repair(draw_package(f"pretraining {number}", faults=3))


def _draw_state(rng: random.Random) -> RepairState:
    repair = _repair(rng.randrange(PACKAGES))
    sites = repair.package.sites
    operators = tuple(
        site.right if rng.random() < 0.4 else rng.choice(site.options) for site in sites
    )
    opened = frozenset(index for index in range(len(sites)) if rng.random() < 0.7)
    report = "?"
    if rng.random() < 0.3:
        passed = flags(repair.package, repair.tests, operators)
        report = "".join("F."[one] for one in read_flags(repair, passed).visible)
    left = rng.randint(1, TURNS)
    return RepairState(repair, operators, opened, report, left, refused=rng.random() < 0.05)
