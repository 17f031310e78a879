"""Every player by name: embedded ones, and the command-line agents.

make_player("baseline:rtn4", contest)
make_player("claude", contest, options={"claude.model": "claude-sonnet-4-5"})
make_player("mine=python3 /home/me/agent.py {prompt}", contest)
"""

from __future__ import annotations

from collections.abc import Mapping

from unhack.agents.registry import COMMAND_AGENTS, is_command_agent, make_command_agent
from unhack.core.errors import UnknownNameError
from unhack.tournament.contest import Contest
from unhack.tournament.players.builtin.embedded import Fixed, make_embedded
from unhack.tournament.players.builtin.search import Search
from unhack.tournament.players.command_player import CommandPlayer
from unhack.tournament.players.player import Player

PLAYERS: Mapping[str, str] = {
    "baseline[:NAME]": "an honest strategy of the contest; the first one without a name",
    "search": "an optimiser over the contest's own parameters, better from round to round",
    "cheater[:NAME]": "hacks of the catalogue, one a round in turn, or always the same",
    "null": "hands in nothing",
    "identity": "hands in what it was given",
    **COMMAND_AGENTS,
}
"""One line for each kind of player."""


def make_player(name: str, contest: Contest, *, options: Mapping[str, str] | None = None) -> Player:
    """The player of a name. `options`: see `Options`; embedded ones have none.

    Raises UnknownNameError; UsageError for an agent that is not installed here, has no key, or an
    option that makes no sense.
    """
    embedded = make_embedded(name, contest)
    if embedded is not None:
        return embedded
    if not is_command_agent(name):
        raise UnknownNameError("agent", name, valid=PLAYERS)
    return CommandPlayer(make_command_agent(name, options=options))


def is_embedded(player: Player) -> bool:
    """True for an embedded agent: its name and the contest are all of it."""
    return isinstance(player, Fixed | Search)
