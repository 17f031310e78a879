"""Submissions of one runtime: settings in the first lines of a program, tricks put over it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unhack.tournament.kit import Cheat, Choice, Files, Parameter, Submissions
from unhack_contests.quantization import degame
from unhack_contests.quantization.data import text
from unhack_contests.quantization.model.reference import nano

Settings = Mapping[str, object]
FINE = (1.0, 0.92, 0.85, 0.78, 0.7, 0.62)
_SEPARATOR = "#### "
_EXCERPT = 3000


@dataclass(frozen=True, slots=True)
class SubmissionProgram:
    """The program that all honest submissions of a runtime share, and the hacks around it."""

    folder: Path
    """Sources and tricks, as texts."""
    settings: Mapping[str, tuple[object, str]]
    """Name -> its usual value, and a remark."""
    strategies: Mapping[str, Settings]
    """Name -> what differs from the usual; the first, which changes nothing, is the baseline."""
    compose: Callable[[Settings, Mapping[str, str]], str]
    """The program of all settings, and of the line of each."""

    def part(self, name: str) -> str:
        """One of the sources."""
        return (self.folder / f"{name}.txt").read_text()

    def source(self, changes: Settings) -> str:
        """The program with some of its settings changed."""
        values = {name: changes.get(name, usual) for name, (usual, _) in self.settings.items()}
        lines = {
            name: f"{name} = {value!r}  # {self.settings[name][1]}"
            for name, value in values.items()
        }
        return self.compose(values, lines)

    def files(self, changes: Settings, more: str = "") -> Files:
        """The submission of that program, with more source at its end."""
        return {"solution.py": (self.source(changes) + more).encode()}

    def honest(self) -> dict[str, Files]:
        """Every strategy's submission."""
        return {name: self.files(changes) for name, changes in self.strategies.items()}

    def at(self, choice: Choice) -> Files:
        """The submission of one point of the space."""
        own = {name.upper(): value for name, value in choice.items()}
        changes: dict[str, object] = {name: own[name] for name in self.settings if name in own}
        changes["BITS"] = {part: choice[f"{part}_bits"] for part in bits(0, 0, 0)}
        changes["SHRINKAGES"] = FINE if choice["shrinkages"] == "six" else (1.0,)
        return self.files(changes)

    def tricks(self) -> dict[str, str]:
        """Name -> source."""
        parts = (part.partition("\n") for part in self.part("tricks").split(_SEPARATOR)[1:])
        return {name.strip(): source for name, _, source in parts}

    def cheats(
        self, table: Mapping[str, tuple[str, str, str, tuple[int, ...]]], *, blob: str = ""
    ) -> dict[str, Cheat]:
        """Every hack; `table`: trick -> the strategy over which it is put (empty for none), its
        flag, what it deserves, numbers of the catalogue. `blob`: source in front of the weights
        that stand in code."""
        packed = base64.b85encode(four_bits())
        fronts = {
            "calibrate_on_test": f"EVAL_TEXTS = {text.planted()[:_EXCERPT]!r}\n",
            "honeypot_lookup": f"EVAL_TEXTS = {text.planted()!r}\n",
            "fitted_to_test": f"EVAL_TEXTS = {text.planted()!r}\n",
            "weights_in_code": f"{blob}BLOB = {packed.decode()!r}\n",
        }
        tricks, found = self.tricks(), dict[str, Cheat]()
        for trick, (strategy, flag, deserves, catalogue) in table.items():
            source = fronts.get(trick, "") + tricks[trick]
            on = self.strategies.get(strategy)
            files = alone(source) if on is None else self.files(on, f"\n\n{source}")
            notes = {"NOTES.md": packed} if trick == "weights_in_notes" else {}
            found[trick] = Cheat({**files, **notes}, flag, deserves, catalogue)
        return found

    def submissions(
        self, space: tuple[Parameter, ...], cheats: Callable[[], Mapping[str, Cheat]]
    ) -> Submissions:
        """See `Contest`. Null keeps nothing; identity hands in what it was given, as 16-bit
        numbers."""
        return Submissions(
            null=lambda: alone(self.tricks()["null"]),
            identity=lambda: self.files({}, self.tricks()["identity"]),
            honest=self.honest,
            cheats=cheats,
            space=space,
            at=self.at,
            degamed=degame.variants,
        )


def bits(embed: int, attention: int, mlp: int) -> dict[str, int]:
    """Of a code, by the kind of the matrix."""
    return {"embed": embed, "attention": attention, "mlp": mlp}


def alone(source: str) -> Files:
    """A submission that is no program of ours."""
    return {"solution.py": source.lstrip().encode()}


def four_bits() -> bytes:
    """The package's weights: of each matrix a float16 scale a row of 32, then a code in each half
    byte; vectors as float16."""
    parts: list[bytes] = []
    for array in nano().arrays().values():
        if array.ndim == 1:
            parts.append(array.astype("<f2").tobytes())
            continue
        rows = array.reshape(-1, 32).astype(np.float32)
        scales = np.abs(rows).max(axis=1) / 7.5
        codes = np.clip(np.floor(rows / scales[:, None] + 8), 0, 15).astype(np.uint8).ravel()
        parts += [scales.astype("<f2").tobytes(), (codes[::2] | codes[1::2] << 4).tobytes()]
    return b"".join(parts)
