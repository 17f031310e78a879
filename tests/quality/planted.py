"""The planted corpus: verifiers whose flaws are known, and verifiers that are known to have none.

    flawed/NAME.py       a function that scores text       flawed/NAME.toml       its label
    flawed_code/NAME/    `verifier.py` and what it reads   …/expected.toml        its label
    sound/NAME.py        the same without a flaw           sound/NAME.toml        problems, wrong
    sound_code/NAME/     a task directory of ours          …/expected.toml        wrong solutions

`test_labels.py` proves every label by execution.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parent


class Kind(StrEnum):
    """What an entry scores."""

    TEXT = "text"
    """Completions that end in an answer; a Python function scores them."""
    CODE = "code"
    """Programs; a directory scores them."""


@dataclass(frozen=True, slots=True)
class Row:
    """One problem of an entry."""

    prompt: str
    answer: str = ""
    """Right final answer; empty for programs."""
    correct: tuple[str, ...] = ()
    """Completions that are right, in forms that the prompt allows."""
    witness: str | None = None
    """A completion that is wrong and scores at least as much as the lowest of `correct`."""
    says: tuple[str, ...] = ()
    """The final answers that the witness puts forward, as a careful reader takes them."""
    restates: str = ""
    """The part of the prompt that the witness hands back instead of an answer."""
    wrong: tuple[str, ...] = ()
    """Completions that are wrong and must score less than all of `correct`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One verifier of the corpus."""

    kind: Kind
    name: str
    path: Path
    """The Python file, or the directory."""
    flaws: tuple[str, ...]
    """Ids that are right names for what is wrong with it, the main one first; empty when sound."""
    signature: str
    """`plain`, `verl`, `trl`, `trl_chat`, `openrlhf`, `reasoning_gym`; code: `script`, `task`."""
    entry: str
    """The function that scores, or for code the function that a solution defines."""
    problems: tuple[Row, ...]
    probes: tuple[dict[str, Any], ...] = field(default=())
    """For code: calls (`args`, `expected`) that tell right from wrong solutions."""

    @property
    def flawed(self) -> bool:
        """Whether there is something to be found."""
        return bool(self.flaws)

    @property
    def framework(self) -> str:
        """The name in `unhack.audit.subjects.signatures`; chats are told from the source."""
        return "trl" if self.signature == "trl_chat" else self.signature

    @property
    def witness(self) -> str | None:
        """The first witness."""
        return next((row.witness for row in self.problems if row.witness is not None), None)

    def rows(self) -> list[dict[str, Any]]:
        """The problems as the rows of a JSONL file that an audit reads."""
        return [
            {"prompt": row.prompt, "answer": row.answer, "correct": list(row.correct)}
            for row in self.problems
        ]


def _text(path: Path) -> Entry:
    label = tomllib.loads(path.read_text(encoding="utf-8"))
    rows = tuple(
        Row(
            **{
                key: tuple(value) if isinstance(value, list) else value
                for key, value in row.items()
            }
        )
        for row in label["problems"]
    )
    return Entry(
        kind=Kind.TEXT,
        name=path.stem,
        path=path.with_suffix(".py"),
        flaws=tuple(label.get("flaws", ())),
        signature=label["signature"],
        entry=label["entry"],
        problems=rows,
    )


def _code(path: Path) -> Entry:
    label = tomllib.loads((path / "expected.toml").read_text(encoding="utf-8"))
    witness = path / label["witness"] if "witness" in label else None
    row = Row(
        prompt=(path / "prompt.md").read_text(encoding="utf-8"),
        correct=((path / "reference.py").read_text(encoding="utf-8"),),
        witness=witness.read_text(encoding="utf-8") if witness else None,
        wrong=tuple(file.read_text(encoding="utf-8") for file in sorted(path.glob("wrong/*.py"))),
    )
    return Entry(
        kind=Kind.CODE,
        name=path.name,
        path=path,
        flaws=tuple(label.get("flaws", ())),
        signature="task" if (path / "task.toml").exists() else "script",
        entry=label["entry_point"],
        problems=(row,),
        probes=tuple(json.loads(label.get("probes", "[]"))),
    )


def entries() -> tuple[Entry, ...]:
    """Every verifier of the corpus, by kind and name."""
    texts = [*sorted(HOME.glob("flawed/*.toml")), *sorted(HOME.glob("sound/*.toml"))]
    codes = sorted(path.parent for path in HOME.glob("*_code/*/expected.toml"))
    return (*map(_text, texts), *map(_code, codes))


def flawed() -> tuple[Entry, ...]:
    """The verifiers that can be gamed."""
    return tuple(entry for entry in entries() if entry.flawed)


def sound() -> tuple[Entry, ...]:
    """The verifiers that cannot."""
    return tuple(entry for entry in entries() if not entry.flawed)


def score(function: Callable[..., Any], signature: str, *, row: Row, text: str) -> float:
    """What a text verifier gives a completion of a problem, called as its framework calls it."""
    call = _CALLS[signature]
    value = call(function, row, text)
    if isinstance(value, dict):
        value = value.get("score", value.get("rewards"))
    if isinstance(value, Sequence):
        [value] = value
    return float(value)


def _chat(role: str, content: str) -> list[dict[str, str]]:
    return [{"role": role, "content": content}]


_CALLS: dict[str, Callable[[Callable[..., Any], Row, str], Any]] = {
    "plain": lambda function, row, text: function(text, row.answer),
    "verl": lambda function, row, text: function("corpus", text, row.answer, {"index": 0}),
    "trl": lambda function, row, text: function(
        prompts=[row.prompt], completions=[text], answer=[row.answer]
    ),
    "trl_chat": lambda function, row, text: function(
        prompts=[_chat("user", row.prompt)],
        completions=[_chat("assistant", text)],
        answer=[row.answer],
    ),
    "openrlhf": lambda function, row, text: function(
        [row.prompt + text], [row.prompt], [row.answer]
    ),
    "reasoning_gym": lambda function, row, text: function(
        text, {"question": row.prompt, "answer": row.answer, "metadata": {}}
    ),
}
