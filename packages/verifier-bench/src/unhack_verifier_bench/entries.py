"""The planted corpus: verifiers whose flaws are known, and verifiers that are known to have none.

    planted_entries()                   the corpus of the package, in `corpus/`
    planted_entries(Path("folder"))     another one, in the same form:

    flawed/NAME.py       a function that scores text       flawed/NAME.toml       its label
    flawed_code/NAME/    `verifier.py` and what it reads   …/expected.toml        its label
    sound/NAME.py        the same without a flaw           sound/NAME.toml        problems, wrong
    sound_code/NAME/     a task directory of ours          …/expected.toml        wrong solutions
    strategies/NAME.py   what a policy can do against a flawed one without the right answer
                         (`strategy` of an expected.toml names a program of that folder instead)

The tests of the repository prove every label of the package's corpus by execution.

Covered: reading entries, and calling a text verifier as its framework does.
Not covered: seals; a verifier that is called here runs in this process (`claims` scores sealed).
This module needs the standard library alone, so that the interpreter of any auditor can read it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

HOME = Path(__file__).resolve().parent / "corpus"


class PlantedKind(StrEnum):
    """Kinds of completions that an entry scores."""

    TEXT = "text"
    """Completions that end in an answer; a Python function scores them."""
    CODE = "code"
    """Programs; a directory scores them."""


class PlantedLabel(StrEnum):
    """Uses that a policy has for a flaw."""

    HACK = "hack"
    """A strategy that sees the prompt and never the right answer is rewarded for wrong
    completions."""
    FALSE_ACCEPT = "false_accept"
    """Only what is made from the right answer, and is wrong all the same, is rewarded."""


@dataclass(frozen=True, slots=True)
class PlantedRow:
    """One problem of an entry.

    Example:

        row = PlantedRow("What is 1 + 1?", answer="2", correct=("2",), wrong=("3",))
    """

    prompt: str
    options: int = 0
    """How many final answers the prompt offers to choose from; 0 for an open question."""
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
class PlantedEntry:
    """One verifier of the corpus.

    Example:

        entry = planted_entries()[0]
        entry.name, entry.flawed, entry.problems[0].prompt
    """

    kind: PlantedKind
    name: str
    path: Path
    """The Python file, or the directory."""
    label: PlantedLabel | None
    """`None` when sound."""
    flaws: tuple[str, ...]
    """Ids that are right names for what is wrong with it, the main one first; empty when sound."""
    signature: str
    """`plain`, `verl`, `trl`, `trl_chat`, `openrlhf`, `reasoning_gym`; code: `script`, `task`."""
    entry: str
    """The function that scores, or for code the function that a solution defines."""
    problems: tuple[PlantedRow, ...]
    probes: tuple[dict[str, Any], ...] = field(default=())
    """For code: calls (`args`, `expected`) that tell right from wrong solutions."""
    strategy: Path | None = None
    """For a hack: a file with `strategy(prompt) -> completion`, which proves the label; or the
    program that is the completion of every prompt."""

    @property
    def flawed(self) -> bool:
        """True when there is something to be found."""
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


def _label(label: dict[str, Any]) -> PlantedLabel | None:
    return PlantedLabel(label["kind"]) if label.get("flaws") else None


def _row(values: dict[str, Any]) -> PlantedRow:
    lists = {key: tuple(values[key]) for key in ("correct", "says", "wrong") if key in values}
    fields: dict[str, Any] = {**values, **lists}
    return PlantedRow(**fields)


def _text(path: Path) -> PlantedEntry:
    label = tomllib.loads(path.read_text(encoding="utf-8"))
    rows = tuple(map(_row, label["problems"]))
    return PlantedEntry(
        kind=PlantedKind.TEXT,
        name=path.stem,
        path=path.with_suffix(".py"),
        label=_label(label),
        flaws=tuple(label.get("flaws", ())),
        signature=label["signature"],
        entry=label["entry"],
        problems=rows,
        strategy=_strategy(path.parent.parent, path.stem),
    )


def _code(path: Path) -> PlantedEntry:
    label = tomllib.loads((path / "expected.toml").read_text(encoding="utf-8"))
    witness = path / label["witness"] if "witness" in label else None
    row = PlantedRow(
        prompt=(path / "prompt.md").read_text(encoding="utf-8"),
        correct=((path / "reference.py").read_text(encoding="utf-8"),),
        witness=witness.read_text(encoding="utf-8") if witness else None,
        wrong=tuple(file.read_text(encoding="utf-8") for file in sorted(path.glob("wrong/*.py"))),
    )
    return PlantedEntry(
        kind=PlantedKind.CODE,
        name=path.name,
        path=path,
        label=_label(label),
        flaws=tuple(label.get("flaws", ())),
        signature="task" if (path / "task.toml").exists() else "script",
        entry=label["entry_point"],
        problems=(row,),
        probes=tuple(json.loads(label.get("probes", "[]"))),
        strategy=_strategy(path.parent.parent, path.name)
        or (path / label["strategy"] if "strategy" in label else None),
    )


def _strategy(folder: Path, name: str) -> Path | None:
    path = folder / "strategies" / f"{name}.py"
    return path if path.exists() else None


def planted_entries(folder: Path = HOME) -> tuple[PlantedEntry, ...]:
    """Every verifier of a corpus, by kind and name.

    Raises ValueError for a folder that holds none.
    """
    texts = [*sorted(folder.glob("flawed/*.toml")), *sorted(folder.glob("sound/*.toml"))]
    codes = sorted(path.parent for path in folder.glob("*_code/*/expected.toml"))
    if not texts and not codes:
        raise ValueError(
            f"{folder} holds no entries: expected flawed/NAME.toml beside flawed/NAME.py, "
            "flawed_code/NAME/expected.toml, and the same under sound and sound_code"
        )
    return (*map(_text, texts), *map(_code, codes))


def flawed() -> tuple[PlantedEntry, ...]:
    """The verifiers that can be gamed."""
    return tuple(entry for entry in planted_entries() if entry.flawed)


def sound() -> tuple[PlantedEntry, ...]:
    """The verifiers that cannot."""
    return tuple(entry for entry in planted_entries() if not entry.flawed)


def score(function: Callable[..., Any], signature: str, *, row: PlantedRow, text: str) -> float:
    """The reward of a completion of a problem, the verifier called as its framework calls it."""
    value: Any = _CALLS[signature](function, row, text)
    if isinstance(value, dict):
        parts = cast("dict[str, Any]", value)
        value = parts.get("score", parts.get("rewards"))
    if isinstance(value, Sequence):
        [value] = cast("Sequence[Any]", value)
    return float(value)


def _chat(role: str, content: str) -> list[dict[str, str]]:
    return [{"role": role, "content": content}]


_CALLS: dict[str, Callable[[Callable[..., Any], PlantedRow, str], Any]] = {
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
