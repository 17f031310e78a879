"""Commands with many options: one dataclass holds them, one field for each.

By hand: typer reads options from the parameters of a function alone.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, field, fields
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from unhack.core.errors import UsageError

_CONTEXT, _GIVEN = "typer_context", "typer_parameter"


def valued(
    text: str, *, metavar: str, least: float | None = None, most: float | None = None
) -> Any:
    """An option with a value; its name is that of the field."""
    return typer.Option(metavar=metavar, help=text, min=least, max=most)


def opt(
    default: Any,
    text: str,
    *names: str,
    metavar: str | None = None,
    least: float | None = None,
    most: float | None = None,
) -> Any:
    """A field of a dataclass for `takes` that is an option; `...` for no default.

    Its name is that of the field where `names` say no other.
    """
    given = typer.Option(*names, metavar=metavar, help=text, min=least, max=most)
    return _parameter(default, given)


def arg(default: Any, text: str, *, metavar: str) -> Any:
    """As `opt`, for what stands on the command line without a name."""
    return _parameter(default, typer.Argument(metavar=metavar, help=text))


def _parameter(default: Any, given: Any) -> Any:
    return field(default=MISSING if default is ... else default, metadata={_GIVEN: given})


def check_output(option: str, path: Path | None) -> None:
    """Raise UsageError for a file that could not be written, before anything runs."""
    if path is not None and not path.absolute().parent.is_dir():
        raise UsageError(f"{option}: {path}: no such directory: {path.parent}")
    if path is not None and path.is_dir():
        raise UsageError(f"{option}: {path} is a directory; name a file in it")


def grouped(
    headings: Mapping[str, Sequence[str]], *, bare: Mapping[str, str] | None = None
) -> type[TyperCommand]:
    """The class of a command whose options stand in the help under headings, by their names.

    Options that no heading names stand under `Options`. `bare` gives the value of an option, such
    as `--fix`, that stands last or before another option and so has none of its own.
    """
    heading_of = {name: heading for heading, names in headings.items() for name in names}

    class GroupedCommand(TyperCommand):
        """A command with headings."""

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            """Give options without a value theirs, then parse."""
            return super().parse_args(ctx, _with_values(args, bare or {}))

        def format_options(self, ctx: Any, formatter: Any) -> None:
            """Write arguments, then options without a heading, then the others by heading."""
            found: dict[str, list[tuple[str, str]]] = {}
            for parameter in self.get_params(ctx):
                record = parameter.get_help_record(ctx)
                if record is None:
                    continue
                kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
                found.setdefault(heading_of.get(parameter.name or "", kind), []).append(record)
            for heading in ("Arguments", "Options", *headings):
                if heading in found:
                    with formatter.section(heading):
                        formatter.write_dl(found[heading])

    return GroupedCommand


def _with_values(args: Sequence[str], bare: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    for at, word in enumerate(args):
        following = args[at + 1] if at + 1 < len(args) else "--"
        found.append(word)
        if word in bare and following.startswith("-") and following != bare[word]:
            found.append(bare[word])
    return found


def takes(options: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function of one dataclass a command with an option for each of its fields.

    A function with a second parameter gets the names of the fields that the user gave, so that it
    can tell a default from the same value on the command line; one with a parameter `context` gets
    typer's, so that it can tell whether a command follows.
    """
    hints = typing.get_type_hints(options, include_extras=True)
    for one in fields(options):
        if _GIVEN in one.metadata:
            hints[one.name] = Annotated[hints[one.name], one.metadata[_GIVEN]]

    def make(function: Callable[..., None]) -> Callable[..., None]:
        wanted = inspect.signature(function).parameters
        follows = "context" in wanted
        asks = len(wanted) - follows > 1

        def command(**values: Any) -> None:
            context: typer.Context = values.pop(_CONTEXT)
            sources = {name: context.get_parameter_source(name) for name in values}
            # By name: typer carries its own copy of click, whose classes it does not hand on.
            given = {name for name, one in sources.items() if one and one.name != "DEFAULT"}
            more = {"context": context} if follows else {}
            function(options(**values), *([frozenset(given)] if asks else []), **more)

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
        context = inspect.Parameter(
            _CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context
        )
        parameters.append(context)
        command.__annotations__ = {**hints, _CONTEXT: typer.Context}
        command.__dict__["__signature__"] = inspect.Signature(parameters)
        return command

    return make
