"""A warm interpreter to fork jobs from: adapted code, immortal objects, full free lists."""

from __future__ import annotations

import gc

from unhack.sandbox.guest.candidate import runner
from unhack.sandbox.guest.server import immortal

_WARM_ROUNDS = 16
"""The interpreter adapts code that has run some times, by writing to it: jobs find that done."""


def warm() -> None:
    """Run a job's steps until nothing about them is new; what is loaded by then is immortal."""
    for warm_up in (*[runner.warm_up] * _WARM_ROUNDS, *runner.WARM_UPS):
        warm_up()
    gc.collect()
    immortal.make_all_immortal()


def fill_free_lists() -> None:
    """Let the interpreter keep as many freed objects for reuse as it ever will here: a job could
    count the jobs before it by how many there are."""
    for _ in range(2):
        del [float(number) for number in range(500)][:]
        del [(number,) * size for size in range(1, 8) for number in range(30)][:]
        del [[number] for number in range(200)][:]
        del [{number: number} for number in range(200)][:]
