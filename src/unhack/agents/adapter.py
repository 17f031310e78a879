"""A command-line agent as data: how it is called, which model it talks to, how it reports."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

_KNOWN = Path(__file__).with_name("adapters.toml")


@dataclass(frozen=True, slots=True)
class Adapter:
    """How to run one kind of agent.

    In every text `{prompt}`, `{model}`, `{url}` (of the proxy, without a path), `{token}` and
    `{key}` (only of an adapter with `key_variable`) stand for the values of the attempt.
    """

    name: str
    title: str
    executables: tuple[str, ...]
    """Names to look for; the first that is found counts."""
    install: str
    """How one gets it."""
    arguments: tuple[str, ...]
    events: str = "text"
    """The parser of `events` that reads its output."""
    provider: str = ""
    """The provider of its model (see `proxy.dialects.PROVIDERS`); empty for none."""
    model: str = ""
    """The model where none is asked for; empty for the agent's own choice."""
    model_arguments: tuple[str, ...] = ()
    """Before `arguments`' prompt, where a model is set."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    home: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files of its home."""
    key_variable: str = ""
    """Set for an agent that talks to its own service only, with a key that no proxy can hold: the
    variable of the key. Then `hosts` can be reached, and nothing else."""
    hosts: tuple[str, ...] = ()
    """Patterns of host names; port 443."""


def known_adapters() -> dict[str, Adapter]:
    """The adapters of `adapters.toml` by name."""
    table: dict[str, dict[str, Any]] = tomllib.loads(_KNOWN.read_text())
    return {
        name: Adapter(name, **{key: _frozen(value) for key, value in fields.items()})
        for name, fields in table.items()
    }


def _frozen(value: Any) -> Any:
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


def fill(text: str, values: Mapping[str, str]) -> str:
    """`text` with each `{name}` of `values` replaced, once; other braces stay."""
    pieces: list[str] = []
    while text:
        found = [(text.find(f"{{{name}}}"), name) for name in values]
        places = [(at, name) for at, name in found if at >= 0]
        if not places:
            break
        at, name = min(places)
        pieces += [text[:at], values[name]]
        text = text[at + len(name) + 2 :]
    return "".join([*pieces, text])
