"""Parsers of a command-line agent's events: turns, tool calls, tokens, cost.

One file a format; `PARSERS` finds them by name. What an agent says is a claim: tokens and cost of a
seat come from the proxy wherever it stands between the agent and its model.
"""

from __future__ import annotations

from collections.abc import Mapping

from unhack.agents.events import claude, codex, cursor, gemini, opencode
from unhack.agents.events.tally import Parser, nothing

PARSERS: Mapping[str, Parser] = {
    "claude": claude.read,
    "codex": codex.read,
    "cursor": cursor.read,
    "gemini": gemini.read,
    "opencode": opencode.read,
    "qwen": claude.read,
    "text": nothing,
}
"""qwen's stream has the form of claude's."""
