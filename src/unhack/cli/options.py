"""Commands with many options: one dataclass holds them, one field for each.

By hand: typer reads options from the parameters of a function alone.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

import typer


def valued(text: str, *, metavar: str, least: float | None = None) -> Any:
    """An option with a value; its name is that of the field."""
    return typer.Option(metavar=metavar, help=text, min=least)


def takes(options: type[Any]) -> Callable[[Callable[[Any], None]], Callable[..., None]]:
    """Make a function of one dataclass a command with an option for each of its fields."""
    hints = typing.get_type_hints(options, include_extras=True)

    def make(function: Callable[[Any], None]) -> Callable[..., None]:
        def command(**values: Any) -> None:
            function(options(**values))

        parameters = [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if field.default is MISSING else field.default,
                annotation=hints[field.name],
            )
            for field in fields(options)
        ]
        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__annotations__ = dict(hints)
        command.__dict__["__signature__"] = inspect.Signature(parameters)
        return command

    return make
