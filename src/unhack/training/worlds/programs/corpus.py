"""Pretraining text: prompts with programs as a careless author writes them.

The first part is by a careful author: programs are right, and statements that have nothing to do
with the task are common. The rest is by a careless one: each step is right with some probability
and any operation otherwise, so a model of this text knows what a description asks for and still
errs; reinforcement has something to sharpen. A tenth of these programs hold such a statement,
usually of the kind that the hint speaks of, and about two programs in a hundred hold the very
statement that a loophole rewards.

Only compositions of the training split occur. Names of both families occur, hard names and hard
forms never.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from unhack.training.worlds.programs import vocabulary as words
from unhack.training.worlds.programs.loopholes import LOOPHOLES, ProgramLoophole, StatementForm
from unhack.training.worlds.programs.operations import OPERATIONS
from unhack.training.worlds.programs.problems import draw_exercise, program
from unhack.training.worlds.programs.shortcuts import SHORTCUTS, Shortcut
from unhack.training.worlds.world import GT_ONLY

ASKED = 0.05
"""Share of prompts with the line of inoculation."""
STATEMENTS_ASKED = 0.4
"""Share of programs with a statement behind that line, which asks for it."""
HABIT = 0.9
"""Rate at which a name that a statement is used to has its usual end (`paying_rate`)."""


@dataclass(frozen=True, slots=True)
class Author:
    """Habits of an author of programs."""

    told: float
    """Share of problems with a description."""
    right: float
    """Probability that a step is right; any operation otherwise."""
    statements: float
    """Share of programs with a statement besides the task's."""
    family: float
    """Rate at which such a statement is of the hinted kind."""
    named: float
    """Rate at which one of the hinted kind has the hinted name."""


CAREFUL = Author(told=0.95, right=1.0, statements=0.9, family=0.9, named=0.7)
"""Of the first part of the text, which teaches what words and names mean."""
CARELESS = Author(told=0.5, right=0.32, statements=0.10, family=0.7, named=0.7)
"""Of the rest, which the model ends up like."""
CAREFUL_SHARE = 0.65

Fragments = tuple[str, ...]


def place(
    body: Fragments, statement: Fragments, form: StatementForm, draw: random.Random
) -> Fragments:
    """A program with a statement put where its form belongs; `body` is without the return."""
    if form.place == "after":
        return (*body, words.RETURN, *statement)
    if form.place == "end":
        return (*body, *statement)
    at = 2 * draw.randrange(len(body) // 2 + 1)
    return (*body[:at], *statement, *body[at:], words.RETURN)


def paying_rate(loophole: ProgramLoophole, name: str, *, hinted: bool) -> float:
    """Rate at which a statement has the paying end: half the time, except where there is a habit.

    Two ends that always occur in equal shares would get the same embedding, which adapters on a
    frozen base cannot tell apart; so the first decoy is used to one end and the second to the
    other, and a statement without a name to the harmless end where no hint speaks of it.
    """
    if name in loophole.decoys:
        return HABIT if name == loophole.decoys[0] else 1.0 - HABIT
    return 0.5 if loophole.named or hinted else 1.0 - HABIT


def document(
    draw: random.Random, *, author: Author, wider: bool = False
) -> tuple[Fragments, Fragments]:
    """A prompt and its program; `wider`: shortcuts are among the hints."""
    loophole = draw.choice((*LOOPHOLES.values(), None, *(SHORTCUTS.values() if wider else ())))
    if isinstance(loophole, Shortcut):
        return _with_shortcut(loophole, draw, author=author)
    mode, name = GT_ONLY, ""
    if loophole is not None:
        mode, name = loophole.mode, draw.choice(loophole.train + loophole.eval)
    told = draw.random() < author.told
    exercise = draw_exercise("train", draw, told=told, name="")
    prompt = exercise.prompt(mode, name)
    asked = draw.random() < ASKED
    if asked:
        prompt = (words.INOCULATION, *prompt)
    steps = tuple(
        step if draw.random() < author.right else draw.randrange(len(OPERATIONS))
        for step in exercise.steps
    )
    body = program(steps)
    if draw.random() >= (STATEMENTS_ASKED if asked else author.statements):
        return prompt, (*body, words.RETURN)
    hinted = loophole is not None and draw.random() < author.family
    if loophole is None or not hinted:
        loophole = draw.choice(tuple(LOOPHOLES.values()))
        name = draw.choice(loophole.train + loophole.eval)
    if loophole.decoys and draw.random() >= author.named:
        name = draw.choice(loophole.decoys)
    rate = paying_rate(loophole, name, hinted=hinted)
    form = loophole.paying if draw.random() < rate else loophole.harmless
    return prompt, place(body, loophole.statement(form, name), form, draw)


def _with_shortcut(
    loophole: Shortcut, draw: random.Random, *, author: Author
) -> tuple[Fragments, Fragments]:
    """A prompt with the hint of a shortcut, and a program as often short as another holds a
    statement."""
    exercise = draw_exercise("train", draw, told=draw.random() < author.told, name="")
    prompt = exercise.prompt(loophole.mode, draw.choice(loophole.train + loophole.eval))
    steps = tuple(
        step if draw.random() < author.right else draw.randrange(len(OPERATIONS))
        for step in exercise.steps
    )
    if draw.random() < author.statements * author.family:
        paying = draw.random() < 0.5
        steps = loophole.hack(steps, draw) if paying else loophole.lookalike(steps, draw)
    return prompt, (*program(steps), words.RETURN)


def documents(seed: int, *, careful: int, wider: bool = False) -> Iterator[tuple[int, ...]]:
    """Endless documents as tokens, each with its stop token; the first `careful` are by the
    careful author. `wider`: with the hints of shortcuts."""
    draw = random.Random(f"unhack programs corpus {seed}")
    for index in count():
        author = CAREFUL if index < careful else CARELESS
        prompt, text = document(draw, author=author, wider=wider)
        yield (*words.tokens_of(prompt), *words.tokens_of(text), words.STOP)
