"""The settings of a contest's folder: what `contest.toml` may say.

Covered: unknown keys and sizes with the nearest valid name, wrong types, numbers out of range.
Not covered: the files beside it (`folder`), and whether packages exist (`packages`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StringConstraints,
    ValidationError,
)

from unhack.core.errors import UnknownNameError, UsageError

_FROZEN = ConfigDict(frozen=True, extra="forbid")
Word = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,40}$")]
Positive = Annotated[StrictFloat | StrictInt, Field(gt=0, allow_inf_nan=False)]
Value = StrictInt | StrictFloat | StrictBool | str
_KINDS = {"float": "a number", "int": "a number", "bool": "true or false", "str": "a text"}
"""Words for the types of values, by their names in a validation error."""
DEMO, USUAL = "demo", "default"
"""Names of sizes: the quick one, which every contest has, and the one that is taken unasked."""


class SubmissionLimits(BaseModel):
    """The limits of one measurement."""

    model_config = _FROZEN

    call_s: Positive = 10.0
    """Seconds of one call of the submission, where the measure does not say."""
    total_s: Positive = 120.0
    """Seconds of a measurement, the author's code included."""
    memory_mib: Positive = 1024
    disk_mib: Positive = 64
    max_files: Annotated[StrictInt, Field(gt=0)] = 32
    max_kib: Annotated[StrictInt, Field(gt=0)] = 1024
    """Of all files of a submission together."""


class CheatSettings(BaseModel):
    """The lot of a cheat that the author ships."""

    model_config = _FROZEN

    flag: str = ""
    """The kind of flag that it must be given."""
    earns: Literal["", "nothing"] = ""
    """`nothing` where no flag is due: the trick finds nothing to work on, and it is credited 0."""


class FolderSettings(BaseModel):
    """`contest.toml`."""

    model_config = _FROZEN

    name: Word
    title: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    bound: Positive
    """No fitness above this is possible."""
    required: tuple[str, ...] = ("solution.py",)
    """Files that every entry has to hold; the first one that is Python is what `call` reaches."""
    optional: tuple[str, ...] = ()
    """Patterns of further files (see `Declared.optional`)."""
    packages: tuple[str, ...] = ()
    """Requirements as pip reads them."""
    measures_time: StrictBool = False
    """True when fitness rests on `submission.seconds`: the judge takes the machine for itself."""
    interactive: StrictBool = False
    """True when the measure answers the submission by what is sealed (a game, a search)."""
    honest: tuple[str, ...] = ()
    """Honest entries in order; the first is the baseline of every round."""
    room: Annotated[StrictFloat | StrictInt, Field(gt=0, le=1)] = 0.7
    """The best honest entry should reach at most this share of the bound."""
    sizes: Mapping[Word, Mapping[str, Value]]
    """Settings for the generator, by size."""
    limits: SubmissionLimits = SubmissionLimits()
    cheats: Mapping[str, CheatSettings] = {}

    def chosen(self, options: Mapping[str, str]) -> tuple[str, dict[str, Value]]:
        """The size that `options` name and its settings, with others laid over them.

        Raises UnknownNameError, UsageError for a value of another type.
        """
        left = dict(options)
        size = left.pop("size", USUAL if USUAL in self.sizes else DEMO)
        if size not in self.sizes:
            raise UnknownNameError(f"size of {self.name}", size, valid=self.sizes)
        found = dict(self.sizes[size])
        for key, text in left.items():
            if key not in found:
                raise UnknownNameError(f"option of {self.name}", key, valid=("size", *found))
            found[key] = _like(found[key], text, key)
        return size, found


def read_settings(data: bytes, place: Path) -> FolderSettings:
    """The settings of a file. Raises UsageError with the place and the nearest valid key."""
    try:
        found = tomllib.loads(data.decode())
    except (ValueError, UnicodeDecodeError) as error:
        raise UsageError(f"{place}: {error}") from None
    try:
        settings = FolderSettings.model_validate(found)
    except ValidationError as error:
        raise _fault(error, place) from None
    for name, cheat in settings.cheats.items():
        if bool(cheat.flag) == bool(cheat.earns):
            raise UsageError(f'{place}: [cheats.{name}] needs flag = "KIND" or earns = "nothing"')
    if DEMO not in settings.sizes:
        raise UsageError(f"{place}: there is no [sizes.{DEMO}], the size that is quick to judge")
    if not settings.required:
        raise UsageError(f"{place}: `required` names no file")
    return settings


def _fault(error: ValidationError, place: Path) -> UsageError:
    known = error.errors(include_url=False)
    # a key that is written wrong is unknown, and missing under its right name
    first = next((item for item in known if item["type"] == "extra_forbidden"), known[0])
    kinds = [str(item["loc"][-1]) for item in known if item["loc"][:-1] == first["loc"][:-1]]
    if first["loc"][-1] in _KINDS:  # each type that the value might have been, and is not
        where = ".".join(map(str, first["loc"][:-1]))
        words = " or ".join(dict.fromkeys(_KINDS[kind] for kind in kinds if kind in _KINDS))
        return UsageError(f"{place}: {where}: {words} is needed")
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        at: Any = FolderSettings
        head = first["loc"][0]
        if head == "limits":
            at = SubmissionLimits
        elif head == "cheats":
            at = CheatSettings
        key = str(first["loc"][-1])
        return UnknownNameError(f"key {where!r} in {place}: key", key, valid=at.model_fields)
    if first["type"] == "missing":
        return UsageError(f"{place}: {where} is missing")
    return UsageError(f"{place}: {where}: {re.sub('^Value error, ', '', first['msg'])}")


def _like(known: Value, text: str, key: str) -> Value:
    """`text` as a value of the type that the size has. Raises UsageError."""
    try:
        if isinstance(known, bool):
            return {"true": True, "false": False}[text]
        return type(known)(text)
    except (ValueError, KeyError):
        kind = type(known).__name__
        raise UsageError(f"option {key}: {text!r} is no {kind}") from None
