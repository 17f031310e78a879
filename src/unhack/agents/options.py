"""Options of command-line agents: `key=value` pairs of the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

from unhack.core.errors import UnknownNameError, UsageError

_MIB = 1 << 20
_ENVIRON = "env."


@dataclass(frozen=True, slots=True)
class Options:
    """Read and checked."""

    model: str = ""
    upstream: str = ""
    """Base address in place of the provider's own, without the version."""
    key_env: str = ""
    """Variable of the host that holds the key, in place of the provider's own."""
    provider: str = ""
    """For `command:`: who answers it (`anthropic`, `openai`, `gemini`, `dashscope`)."""
    prices: str = ""
    """A price table in place of the package's."""
    path: str = ""
    """The agent's executable, where it is not on the PATH."""
    args: str = ""
    """More arguments, split as a shell does."""
    binds: str = ""
    """Host paths to show read-only, separated by colons."""
    events: str = ""
    """For `command:`: which format its output has."""
    key_inside: bool = False
    """True when an agent without a proxy may have its key in its environment."""
    memory_mib: int = 8192
    disk_mib: int = 2048
    processes: int = 1024
    cpus: int = 0
    card_mib: int = 16384
    """Of the card's memory, where the contest gives a card."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    """From `env.NAME=value`."""


_KINDS = {one.name: str(one.type) for one in fields(Options) if one.name != "environ"}
_VALID = sorted({*_KINDS, "env.NAME"})


def read_options(pairs: Mapping[str, str], *, name: str) -> Options:
    """The options of agent `name`: `key`, or `NAME.key` for that agent alone, which comes first.

    Raises UnknownNameError, UsageError for a value that makes no sense.
    """
    plain: dict[str, str] = {}
    own: dict[str, str] = {}
    for key, value in pairs.items():
        if key.startswith(f"{name}."):
            own[key.removeprefix(f"{name}.")] = value
        elif key.startswith(_ENVIRON) or "." not in key:
            plain[key] = value
    values: dict[str, object] = {}
    environ: dict[str, str] = {}
    for key, value in {**plain, **own}.items():
        if key.startswith(_ENVIRON):
            environ[key.removeprefix(_ENVIRON)] = value
        elif key in _KINDS:
            values[key] = _READ[_KINDS[key]](key, value)
        else:
            raise UnknownNameError("option of an agent", key, valid=_VALID)
    return replace(Options(environ=environ), **cast("dict[str, Any]", values))


def mib(count: int) -> int:
    """Bytes."""
    return count * _MIB


def _number(key: str, value: str) -> int:
    if not value.isascii() or not value.isdigit() or (int(value) == 0 and key != "cpus"):
        raise UsageError(f"{key}={value}: a whole number above 0 is needed")
    return int(value)


def _yes(key: str, value: str) -> bool:
    if value not in ("yes", "no"):
        raise UsageError(f"{key}={value}: yes or no")
    return value == "yes"


_READ: Mapping[str, Callable[[str, str], object]] = {
    "int": _number,
    "bool": _yes,
    "str": lambda key, value: value,
}
"""By the type of an option."""
