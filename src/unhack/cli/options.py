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
from typer.core import TyperCommand


def valued(
    text: str,
    *,
    metavar: str,
    least: float | None = None,
    most: float | None = None,
    group: str | None = None,
) -> Any:
    """An option with a value; its name is that of the field. `group` is its heading in the help."""
    return typer.Option(metavar=metavar, help=text, min=least, max=most, rich_help_panel=group)


class GroupedCommand(TyperCommand):
    """A command whose options stand in the help under headings, as `rich_help_panel` names them."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options without a heading, then the others by heading."""
        found: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
            heading = getattr(parameter, "rich_help_panel", None) or kind
            found.setdefault(heading, []).append(record)
        plain = [name for name in ("Arguments", "Options") if name in found]
        for heading in dict.fromkeys([*plain, *found]):
            with formatter.section(heading):
                formatter.write_dl(found[heading])


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
