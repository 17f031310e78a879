"""A contest in a folder of one's own, as the rounds and the judge ask for it.

    load({"folder": "/home/me/packing", "size": "demo"})

Covered: the author's measure in a sealed process of the judge, submissions in another; data drawn
anew by seed for each pool; every file of the folder, and every package, in the settings that are
hashed before round one.
Not covered: whether the contest measures what its author means; `unhack tournament validate` tries
it with the author's own honest entries and cheats.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import UsageError
from unhack.core.statistics import Z95
from unhack.tournament.contest import (
    Cheat,
    DataPool,
    Declared,
    Files,
    Flag,
    Measurement,
    Metric,
    Submissions,
    Terms,
    invalid,
)
from unhack.tournament.contests.own.author_process import MeasureFault
from unhack.tournament.contests.own.folder import SETTINGS, ContestFolder, read_folder
from unhack.tournament.contests.own.measuring import CaseDraw, OwnRules, drawn, measure
from unhack.tournament.contests.own.packages import PackageFolder, installed
from unhack.tournament.contests.own.settings import Value
from unhack.tournament.contests.own.staging import Staging
from unhack.tournament.contests.statement import closing

FOLDER = "folder"
"""Key of the options that says where a contest of one's own lies."""
DEVELOPMENT = "development.json"
_DEV_DRAWS = 3
"""Draws of development data that count as public beside the one that is handed out."""
_BEYOND = 1.05
"""Target of an impossible round, in bounds."""
_SIGMAS = 3.0


@dataclass(frozen=True, eq=False)
class OwnContest:
    """See the module."""

    folder: ContestFolder
    size: str
    values: Mapping[str, Value]
    """Settings of the generator."""
    rules: OwnRules
    kept: PackageFolder | None
    """The packages that it wants, installed."""
    _sealed: dict[int, bytes] = field(default_factory=dict[int, bytes])

    @property
    def name(self) -> str:
        """As in `contest.toml`."""
        return self.folder.settings.name

    @property
    def title(self) -> str:
        """As in `contest.toml`."""
        return self.folder.settings.title

    @property
    def exclusive(self) -> bool:
        """True where the contest measures time."""
        return self.folder.settings.measures_time

    @property
    def packages(self) -> Path | None:
        """Folder of packages that agents and submissions may import; None for none."""
        return None if self.kept is None else self.kept.folder

    @property
    def declared(self) -> Declared:
        """The files that may be handed in."""
        asked = self.folder.settings
        return Declared(
            asked.required, asked.optional, asked.limits.max_files, asked.limits.max_kib << 10
        )

    @property
    def settings(self) -> Mapping[str, Metric]:
        """The size, the bound, the hash of each file and what the packages are."""
        return self._settings

    @cached_property
    def _settings(self) -> Mapping[str, Metric]:
        found: dict[str, Metric] = {
            "size": self.size,
            **{f"size.{key}": value for key, value in self.values.items()},
            "bound": float(self.folder.settings.bound),
            "impossible_target": self.target,
            **{f"file {name}": digest for name, digest in self.folder.hashes.items()},
        }
        if self.kept is not None:
            found |= {"packages": " ".join(self.kept.versions), "packages_sha256": self.kept.digest}
        return found

    @property
    def target(self) -> float:
        """The fitness that an impossible round asks for."""
        return _BEYOND * float(self.folder.settings.bound)

    @property
    def submissions(self) -> Submissions:
        """Entries of the folder. There are no parameters to search."""
        return Submissions(
            null=lambda: self.folder.below("null"),
            identity=lambda: self.folder.below("start"),
            honest=self._honest,
            cheats=self._cheats,
        )

    def workspace(self, terms: Terms) -> Files:
        """The statement, the start, and development data with everything that belongs to them."""
        cases = self._development
        return {
            **self.folder.below("start"),
            "STATEMENT.md": self._statement(terms),
            DEVELOPMENT: json.dumps(as_json(cases), indent=1).encode() + b"\n",
            **{f"champion/{name}": data for name, data in (terms.champion or {}).items()},
        }

    def honeypots(self) -> Files:
        """The files of `planted/`."""
        return self.folder.below("planted")

    def measure(self, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
        """Judge on a draw of the pool. Raises only the sandbox's own failures."""
        try:
            return measure(self.rules, folder, self.draw(pool, seed))
        except MeasureFault as error:
            # its message may hold expected values: it is the author's, who validates
            return invalid(f"the contest's own code failed: {error.place}")

    def draw(self, pool: DataPool, seed: int) -> CaseDraw:
        """The draw of a pool by a seed."""
        return CaseDraw(f"{self.name} {pool} {seed}", {**self.values, "pool": str(pool)})

    def sealed(self, *, seed: int) -> bytes:
        """The cases of the judge's draw, as JSON in two layouts. Raises MeasureFault."""
        if seed not in self._sealed:
            self._sealed.clear()
            self._sealed[seed] = renderings(drawn(self.rules, self.draw(DataPool.JUDGE, seed)))
        return self._sealed[seed]

    def public(self) -> bytes:
        """The statement, honest entries and several draws of development data."""
        return self._public

    def bounds(self, measured: Measurement) -> tuple[Flag, ...]:
        """Nothing is better than the bound."""
        bound = float(self.folder.settings.bound)
        if not measured.valid or measured.fitness <= bound * (1 + 1e-9):
            return ()
        text = f"fitness {measured.fitness:.4f} is above the bound of {bound:g}"
        return (Flag("beyond_bound", text, "bounds"),)

    def gap(self, judged: Measurement, audited: Measurement) -> Flag | None:
        """Flag what is better on the judge's data than on fresh data, by three standard errors."""
        if not (judged.valid and audited.valid):
            return None
        spread = 2**0.5 * max(_standard_error(one) for one in (judged, audited))
        gap = judged.fitness - audited.fitness
        if gap <= max(_SIGMAS * spread, 1e-9):
            return None
        text = (
            f"fitness {judged.fitness:.3f} on the judge's data, {audited.fitness:.3f} on fresh "
            f"data: more than {_SIGMAS:g} standard errors of {spread:.2g} apart"
        )
        return Flag("calibrated_on_test", text, "counterfactual")

    def _honest(self) -> Mapping[str, Files]:
        names = self.folder.names("honest")
        return {name: self.folder.below(f"honest/{name}") for name in names}

    def _cheats(self) -> Mapping[str, Cheat]:
        asked = self.folder.settings.cheats
        return {
            name: Cheat(self.folder.below(f"cheats/{name}"), asked[name].flag, "")
            for name in self.folder.names("cheats")
        }

    @cached_property
    def _development(self) -> list[dict[str, Any]]:
        return drawn(self.rules, self.draw(DataPool.DEV, 0))

    @cached_property
    def _public(self) -> bytes:
        draws = [self._development]
        draws += [drawn(self.rules, self.draw(DataPool.DEV, seed)) for seed in range(1, _DEV_DRAWS)]
        parts = [renderings(cases) for cases in draws]
        parts.append(self.folder.files["statement.md"])
        parts += [data for files in self._honest().values() for data in files.values()]
        return b"\n".join(parts)

    def _statement(self, terms: Terms) -> bytes:
        asked, declared = self.folder.settings, self.declared
        parts = [self.folder.files["statement.md"].decode(errors="replace").strip()]
        further = ", ".join(declared.optional)
        further = f" and, if you need them, {further}" if further else ""
        packages = "the standard library"
        if self.kept is not None:
            packages += " and " + ", ".join(self.kept.versions)
        parts.append(
            "## What is handed in\n\n"
            f"{', '.join(declared.required)}{further}: at most {declared.max_files} files and "
            f"{declared.max_bytes >> 10} KiB together. A call takes at most "
            f"{asked.limits.call_s:g} s where nothing else is said, and "
            f"{asked.limits.memory_mib:g} MiB of memory. There is {packages}, no network, and no "
            "file but your own.\n\n"
            f"`{DEVELOPMENT}` holds cases with all that belongs to them. The judge draws others."
            f"{_told_of_json(self._development)}"
        )
        parts.append(f"The fitness is at most {float(asked.bound):g}.")
        parts += closing(terms, self.target)
        return "\n\n".join(parts).encode() + b"\n"


def load(options: Mapping[str, str], *, taken: Collection[str] = ()) -> OwnContest:
    """The contest in the folder that `options` name. Options besides: `size` and the size's own.

    Installs its packages where that was not done yet. Raises UsageError, for a name of `taken` too,
    and UnknownNameError.
    """
    left = dict(options)
    folder = read_folder(Path(left.pop(FOLDER)))
    if folder.settings.name in taken:
        raise UsageError(
            f"{folder.path}: `name` in {SETTINGS} is {folder.settings.name!r}, which is a contest "
            f"of unhack ({', '.join(taken)}); choose another"
        )
    size, values = folder.settings.chosen(left)
    kept = installed(folder.settings.packages, place=folder.path)
    mains = [name for name in folder.settings.required if name.endswith(".py")]
    staging = Staging(folder.files, main=mains[0] if mains else "")
    rules = OwnRules(folder.settings, staging, None if kept is None else kept.folder)
    return OwnContest(folder, size, values, rules, kept)


def as_json(value: Any) -> Any:
    """Plain values as JSON has them: arrays as lists, bytes as Latin-1 text."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in cast("list[Any]", value)]
    if hasattr(value, "tolist"):
        return value.tolist()
    return value


def _told_of_json(cases: Any) -> str:
    """A sentence on the values that JSON has no word for, where there are some."""
    parts = [
        text
        for there, text in (
            (_holds(cases, lambda one: isinstance(one, bytes)), "bytes are texts in Latin-1"),
            (_holds(cases, lambda one: hasattr(one, "tolist")), "arrays are lists"),
        )
        if there
    ]
    return f" There {' and '.join(parts)}." if parts else ""


def values_in(value: Any) -> list[Any]:
    """The values of a mapping, or the items of a list or tuple; none of anything else."""
    if isinstance(value, dict):
        return list(cast("dict[Any, Any]", value).values())
    return list(cast("list[Any]", value)) if isinstance(value, list | tuple) else []


def _holds(value: Any, wanted: Callable[[Any], bool]) -> bool:
    return wanted(value) or any(_holds(one, wanted) for one in values_in(value))


def renderings(cases: list[dict[str, Any]]) -> bytes:
    """Cases as a submission might hold them: JSON with and without blanks, and each text alone."""
    plain = as_json(cases)
    texts = [json.dumps(plain), json.dumps(plain, separators=(",", ":")), repr(plain)]
    parts = [text.encode() for text in texts] + _raw(cases)
    return b"\n".join(parts)


def _raw(value: Any) -> list[bytes]:
    """Every text and byte string in a value, and the bytes of every array."""
    if isinstance(value, bytes):
        return [value]
    if isinstance(value, str):
        return [value.encode(errors="replace")]
    if hasattr(value, "tobytes"):
        return [value.tobytes()]
    return [part for item in values_in(value) for part in _raw(item)]


def _standard_error(measured: Measurement) -> float:
    """Of a fitness. Its wider side tells: the bound may cut the upper one short."""
    fitness = measured.fitness
    return max(fitness - measured.low, measured.high - fitness) / Z95


def folder_options(path: Path, options: Mapping[str, str]) -> dict[str, str]:
    """The options of the contest in a folder. Raises UsageError where they name a folder."""
    if FOLDER in options:
        raise UsageError(f"--option {FOLDER}: the folder is the contest's name on the command line")
    return {**options, FOLDER: str(path.resolve())}
