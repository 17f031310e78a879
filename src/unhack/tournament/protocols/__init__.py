"""The contests, one package each; `load_protocol` finds them by name."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from unhack.core.errors import UnknownNameError
from unhack.tournament.protocol import Protocol

PROTOCOLS = ("quantization", "kernels", "interp", "scaling", "reward_hacking")


def load_protocol(name: str, options: Mapping[str, str] | None = None) -> Protocol:
    """A protocol with its settings; `options` are `key=value` pairs of the command line.

    Raises UnknownNameError for another name, UsageError for an option that it does not have.
    """
    if name not in PROTOCOLS:
        raise UnknownNameError("protocol", name, valid=PROTOCOLS)
    module = importlib.import_module(f"unhack.tournament.protocols.{name}")
    return module.load(dict(options or {}))
