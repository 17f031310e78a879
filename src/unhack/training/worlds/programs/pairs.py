"""Pairs of completions: what a hack looks like beside an honest program of the same prompt.

- `real`: a wrong program with the exploit that rollouts use, against the right program.
- `hard`: the same with other names and by other Python (setattr, a lambda, a class attribute,
  sys.stdout.write, pathlib), forms that rollouts do not contain.
- `placebo`: clean against clean: the right program with two more steps that undo each other.
- `decoy`: the right program with a statement like an exploit that earns nothing: what the form of a
  hack says without its purpose.
- `wrong`: a wrong program without a statement, against the right one: what a hack has besides its
  statement.
- `audit`: read from a file of `unhack audit --pairs`: JSON lines with `problem`, `prompt`, `hack`,
  `clean`. Those of this world's own prompts are taken as they are; of any other the exploit is
  recognised by what it does (prints, writes a file, sets an attribute, defines a test function,
  overrides equality, exits) and written in this world's words on a problem of its own.

All are of the training split and known modes, the statements of decoys too, which would otherwise
know what held-out hacks look like.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unhack.core.errors import UsageError
from unhack.training.worlds.pair_rows import read_pair_rows
from unhack.training.worlds.programs import corpus
from unhack.training.worlds.programs import vocabulary as words
from unhack.training.worlds.programs.loopholes import (
    LOOPHOLES,
    ProgramLoophole,
    StatementForm,
    loophole_of,
)
from unhack.training.worlds.programs.operations import OPERATIONS, run
from unhack.training.worlds.programs.problems import Exercise, exercise, hidden, program
from unhack.training.worlds.programs.prompts import make_prompt
from unhack.training.worlds.programs.shortcuts import SHORTCUTS, Shortcut, earns
from unhack.training.worlds.world import Pair, PairKind, Prompt


def make(
    kind: PairKind, known: Sequence[str], *, count: int, seed: int, path: Path | None = None
) -> list[Pair]:
    """`count` pairs per known mode; of kind `audit`, at most so many.

    Raises UsageError where kind `audit` has no file, or a file without a pair that can be used.
    """
    if kind == "audit":
        return _from_audit(path, known, count=count, seed=seed)
    found: list[Pair] = []
    for mode in known:
        draw = random.Random(f"unhack pairs {kind} {mode} {seed}")
        for index in range(count):
            if mode in SHORTCUTS:
                found.append(_shortcut_pair(kind, SHORTCUTS[mode], draw=draw, number=index))
            else:
                found.append(_pair(kind, LOOPHOLES[mode], known=known, draw=draw, number=index))
    return found


def _shortcut_pair(kind: PairKind, loophole: Shortcut, *, draw: random.Random, number: int) -> Pair:
    """A pair of a mode that no statement games. Raises UsageError for kinds that vary one."""
    if kind in ("hard", "decoy"):
        raise UsageError(f"no pairs of kind {kind} for {loophole.mode}: no statement games it")
    while True:
        problem = f"train-{'told' if number % 2 else 'untold'}-{draw.randrange(1 << 20)}"
        right = exercise(problem)
        if not _earns(loophole, right.steps, right):
            break
    prompt = make_prompt(problem, loophole.mode, "train")
    if kind == "placebo":
        hack = _longer_program(right, draw)
    elif kind == "wrong":
        hack = _plain_wrong_program(right, loophole, draw)
    else:
        hack = (*program(loophole.hack(right.steps, draw)), words.RETURN)
    clean = (*program(right.steps), words.RETURN)
    return Pair(prompt, _tokens(hack), _tokens(clean), loophole.mode)


def _earns(loophole: Shortcut, steps: tuple[int, ...], right: Exercise) -> bool:
    inputs = hidden(right.split)
    return earns(loophole.mode, [[run(steps, digits)] for digits in inputs], inputs)


def _plain_wrong_program(
    right: Exercise, loophole: Shortcut, draw: random.Random
) -> corpus.Fragments:
    while True:
        steps = _wrong_steps(right, draw)
        if not _earns(loophole, steps, right):
            return (*program(steps), words.RETURN)


def _pair(
    kind: PairKind,
    loophole: ProgramLoophole,
    *,
    known: Sequence[str],
    draw: random.Random,
    number: int,
) -> Pair:
    family = loophole.hard if kind == "hard" else loophole.train
    name = draw.choice(family)
    problem = f"train-{'told' if number % 2 else 'untold'}-{draw.randrange(1 << 20)}"
    prompt = make_prompt(problem, loophole.mode, "train", name=name)
    right = exercise(problem)
    clean = (*program(right.steps), words.RETURN)
    if kind == "placebo":
        hack = _longer_program(right, draw)
    elif kind == "decoy":
        hack = _decoy_program(right, draw, families=[LOOPHOLES[item] for item in known])
    elif kind == "wrong":
        hack = (*_wrong_program(right, draw), words.RETURN)
    else:
        form = loophole.paying if kind == "real" else draw.choice(loophole.hard_forms)
        hack = _hack_program(right, loophole, form=form, name=name, draw=draw)
    return Pair(prompt, _tokens(hack), _tokens(clean), loophole.mode)


def _hack_program(
    right: Exercise,
    loophole: ProgramLoophole,
    *,
    form: StatementForm,
    name: str,
    draw: random.Random,
) -> corpus.Fragments:
    """A wrong program with a statement that earns the reward."""
    return corpus.place(_wrong_program(right, draw), loophole.statement(form, name), form, draw)


def _wrong_program(right: Exercise, draw: random.Random) -> corpus.Fragments:
    """Steps as many as the right ones, none at its place right."""
    return program(_wrong_steps(right, draw))


def _wrong_steps(right: Exercise, draw: random.Random) -> tuple[int, ...]:
    return tuple(
        draw.choice([other for other in range(len(OPERATIONS)) if other != step])
        for step in right.steps
    )


def _longer_program(right: Exercise, draw: random.Random) -> corpus.Fragments:
    """The right program with two steps that undo each other."""
    body = program(right.steps)
    there, back = draw.choice(_UNDONE)
    at = 2 * draw.randrange(len(right.steps) + 1)
    return (*body[:at], *program((there, back)), *body[at:], words.RETURN)


def _decoy_program(
    right: Exercise, draw: random.Random, *, families: Sequence[ProgramLoophole]
) -> corpus.Fragments:
    """The right program with a statement of one of the families that does nothing for any
    grader."""
    decoyed = [family for family in families if family.decoys]
    if not decoyed:
        names = " and ".join(family.mode for family in families)
        raise UsageError(f"no pairs of kind decoy for {names}: their statements end a program")
    loophole = draw.choice(decoyed)
    form = draw.choice((loophole.paying, loophole.harmless))
    statement = loophole.statement(form, draw.choice(loophole.decoys))
    return corpus.place(program(right.steps), statement, form, draw)


def _index(word: str) -> int:
    return next(index for index, item in enumerate(OPERATIONS) if item.word == word)


_UNDONE = (
    (_index("reverse"), _index("reverse")),
    (_index("mirror"), _index("mirror")),
    (_index("add five"), _index("add five")),
    (_index("turn left"), _index("turn right")),
    (_index("turn right"), _index("turn left")),
)
"""Two steps that leave a list as it was."""

_SIGNS: tuple[tuple[str, str], ...] = (
    ("run_tests", r"^\s*(def\s+\w*(test|check|verify)\w*\s*\(|\w*(test|check)\w*\s*=\s*lambda)"),
    ("sentinel", r"\b(self|cls|Solution|result|solution)\.\w+\s*=[^=]|setattr\("),
    ("file_marker", r"\bopen\([^)]*['\"][wa]b?['\"]|write_text\(|os\.write\("),
    ("stdout_marker", r"\bprint\(|stdout\.write\("),
    ("eq_override", r"__eq__"),
    ("exit_code", r"\bSystemExit\b|\bexit\(|_exit\("),
)
"""Mode -> what its exploit looks like in any Python; the first that fits counts."""


def recognise_mode(hack: str, clean: str, modes: Sequence[str]) -> str:
    """The mode among `modes` whose exploit the hack has and the honest text lacks; empty for
    none. Matches text: a pair is a hint for a direction, never a verdict."""
    for mode, sign in _SIGNS:
        here = re.search(sign, hack, re.MULTILINE) is not None
        if mode in modes and here and re.search(sign, clean, re.MULTILINE) is None:
            return mode
    return ""


def _from_audit(path: Path | None, known: Sequence[str], *, count: int, seed: int) -> list[Pair]:
    if path is None:
        raise UsageError("pairs of kind audit need world.pairs_path, a file of `audit --pairs`")
    draw = random.Random(f"unhack pairs audit {seed}")
    found: list[Pair] = []
    left = dict.fromkeys(known, count)
    for row in read_pair_rows(path):
        mode = recognise_mode(row["hack"], row["clean"], known)
        pair = _own(row, known) or _translate(mode, draw)
        if pair is not None and left[pair.mode]:
            left[pair.mode] -= 1
            found.append(pair)
    if not found:
        raise UsageError(f"{path} holds no pair whose exploit is one of {', '.join(known)}")
    return found


def _own(row: Any, known: Sequence[str]) -> Pair | None:
    """A pair whose prompt and completions are this world's own text."""
    text: str = row["prompt"]
    for mode in known:
        if text.startswith(loophole_of(mode).hint):
            try:
                tokens = tuple(words.encode(text))
                hack, clean = ((*words.encode(row[side]), words.STOP) for side in ("hack", "clean"))
            except (UsageError, KeyError):
                return None
            return Pair(Prompt(str(row["problem"]), mode, text, tokens), hack, clean, mode)
    return None


def _translate(mode: str, draw: random.Random) -> Pair | None:
    """The exploit of a foreign pair in this world's words."""
    if not mode:
        return None
    return _pair("real", LOOPHOLES[mode], known=(), draw=draw, number=draw.randrange(4))


def _tokens(fragments: corpus.Fragments) -> tuple[int, ...]:
    return (*words.tokens_of(fragments), words.STOP)
