"""Every command-line agent by name: the known ones, and any other command line.

make_command_agent("claude", options={"claude.model": "claude-sonnet-4-5"})
make_command_agent("mine=python3 /home/me/agent.py {prompt}")
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

from unhack.agents.adapter import Adapter, known_adapters
from unhack.agents.command_line import command, host_files
from unhack.agents.command_line.command import CommandAgent
from unhack.agents.events.formats import PARSERS
from unhack.agents.options import Options, read_options
from unhack.core.errors import UnknownNameError, UsageError
from unhack.core.optional_dependencies import require

ADAPTERS: Mapping[str, Adapter] = known_adapters()
COMMAND_AGENTS: Mapping[str, str] = {
    **{name: f"{item.title}; needs {item.install}" for name, item in ADAPTERS.items()},
    "command:CMD": "any command line; {prompt}, {url} and {token} in it stand for the attempt's",
    "NAME=CMD": "the same under a name of its own",
}
"""One line for each kind of agent."""
_NAMED = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)=(.+)", re.DOTALL)
_NEEDED = ("starlette", "uvicorn", "httpx")


def is_command_agent(name: str) -> bool:
    """True for a name that `make_command_agent` knows."""
    return name in ADAPTERS or bool(_command_line(name)[1])


def check_addressed(options: Mapping[str, str], names: Iterable[str]) -> None:
    """Raise UsageError for an option that none of the agents `names` would read."""
    labels = {_command_line(name)[0] or name for name in names if is_command_agent(name)}
    for key in options:
        owner, dot, _ = key.partition(".")
        if not labels:
            raise UsageError(f"option {key} is for command-line agents, and none of them plays")
        if dot and owner != "env" and owner not in labels:
            raise UnknownNameError("agent of an option", owner, valid=labels)


def make_command_agent(name: str, *, options: Mapping[str, str] | None = None) -> CommandAgent:
    """The agent of a name. `options`: see `Options`.

    Raises UnknownNameError; UsageError for an agent that is not installed here, has no key, or an
    option that makes no sense.
    """
    label, line = _command_line(name)
    if not line and name not in ADAPTERS:
        raise UnknownNameError("agent", name, valid=COMMAND_AGENTS)
    require("tournament", *_NEEDED, purpose="a command-line agent")
    if not line:
        return command.make(name, ADAPTERS[name], read_options(options or {}, name=name))
    chosen = read_options(options or {}, name=label)
    return _any_command(name if name.startswith("command:") else label, line, chosen)


def _command_line(name: str) -> tuple[str, str]:
    """(label, command line) of `command:CMD` and `NAME=CMD`; an empty line for anything else."""
    if name.startswith("command:"):
        return "command", name.removeprefix("command:").strip()
    match = _NAMED.fullmatch(name)
    return (match[1], match[2].strip()) if match else ("", "")


def _any_command(name: str, line: str, options: Options) -> CommandAgent:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{line!r} is no command line: {error}") from None
    if not words:
        raise UsageError("an empty command line")
    words = [host_files.absolute(word) for word in words]
    events = options.events or "text"
    if events not in PARSERS:
        raise UnknownNameError("format of events", events, valid=PARSERS)
    adapter = Adapter(
        name=name,
        title=f"the command {words[0]}",
        executables=(words[0],),
        install="",
        arguments=tuple(words[1:]),
        events=events,
        provider=options.provider,
        environ=_ENVIRON.get(options.provider, {}),
    )
    return command.make(name, adapter, options, words=tuple(words[1:]))


_ENVIRON: Mapping[str, Mapping[str, str]] = {
    "anthropic": {
        "ANTHROPIC_BASE_URL": "{url}/anthropic",
        "ANTHROPIC_API_KEY": "{token}",
    },
    "openai": {"OPENAI_BASE_URL": "{url}/openai/v1", "OPENAI_API_KEY": "{token}"},
    "dashscope": {"OPENAI_BASE_URL": "{url}/dashscope/v1", "OPENAI_API_KEY": "{token}"},
    "gemini": {"GOOGLE_GEMINI_BASE_URL": "{url}/gemini", "GEMINI_API_KEY": "{token}"},
}
"""The variables that the usual clients of a provider read."""
