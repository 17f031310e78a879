"""Agents that act through tools (a chat model, a script) as players of episodes.

Covered: a turn with several calls is played call by call; words without a call are an action that
the episode refuses, so that a model that only talks comes to an end; a fork goes on from what its
episode has seen.
Not covered: what the model costs (`agents.chat` keeps its cap).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from unhack.agents.chat.messages import ActingAgent, ChatMessage, Speaker, ToolCall, ToolSpec
from unhack.environments.actions import TOOLS, Action, arguments_of, name_of
from unhack.environments.episode import Episode, Turn

SYSTEM = (
    "You work on a software repository through the given tools, one step at a time. Paths are "
    "relative to the repository. No process survives a command, and no variable or working "
    "directory but in `shell`. "
    "Hidden tests decide whether the task is solved. Call `submit` when you are done."
)
_SPECS = tuple(ToolSpec(**tool) for tool in TOOLS)


@dataclass(slots=True)
class _Conversation:
    """The messages of one episode, and calls of the last turn that are not played yet."""

    messages: list[ChatMessage]
    seen: int = 0
    """Turns of the episode whose observations stand in the messages."""
    open: deque[ToolCall] = field(default_factory=deque[ToolCall])
    played: deque[ToolCall | None] = field(default_factory=deque["ToolCall | None"])
    """The calls behind the turns that are not seen yet; None for words without a call."""


class ActingPlayer:
    """Plays episodes with an agent that calls tools.

    Example:

        player = ActingPlayer(ChatAgent(endpoint, make_meter(endpoint)))
        played = [one async for one in play_all(workshop, tasks, player)]
    """

    def __init__(self, agent: ActingAgent) -> None:
        self.agent = agent
        self._conversations: WeakKeyDictionary[Episode, _Conversation] = WeakKeyDictionary()

    async def act(self, episode: Episode) -> Action | tuple[str, object]:
        """The agent's next call. What the agent raises ends the episode."""
        talk = self._conversations.get(episode)
        if talk is None:
            talk = self._conversations[episode] = _rebuilt(episode)
        _see(talk, episode)
        if not talk.open:
            turn = await self.agent.act(talk.messages, _SPECS)
            talk.messages.append(turn.message)
            talk.open.extend(turn.calls)
            if not turn.calls:
                talk.played.append(None)
                return ("", {"said": turn.text[:200]})
        call = talk.open.popleft()
        talk.played.append(call)
        return (call.name, {} if call.problem else dict(call.arguments))


def _see(talk: _Conversation, episode: Episode) -> None:
    """Put the observations of what was played into the conversation."""
    for turn in episode.turns[talk.seen :]:
        call = talk.played.popleft()
        talk.messages.append(_answer(turn, call))
    talk.seen = len(episode.turns)


def _answer(turn: Turn, call: ToolCall | None) -> ChatMessage:
    text = turn.result.observation.text
    if call is None:
        words = "Call one of the tools; `submit` when you are done."
        return ChatMessage(Speaker.USER, words)
    if call.problem:
        text = f"{text}\n(the arguments could not be read: {call.problem})"
    return ChatMessage(Speaker.TOOL, text, call_id=call.id)


def _rebuilt(episode: Episode) -> _Conversation:
    """The conversation of an episode that began elsewhere: each of its turns as one call."""
    messages = [
        ChatMessage(Speaker.SYSTEM, SYSTEM),
        ChatMessage(Speaker.USER, episode.opening().text),
    ]
    for number, turn in enumerate(episode.turns):
        name, arguments = _as_call(turn)
        call = ToolCall(f"turn_{number}", name, arguments)
        messages.append(ChatMessage(Speaker.AGENT, "", (call,)))
        messages.append(ChatMessage(Speaker.TOOL, turn.result.observation.text, call_id=call.id))
    return _Conversation(messages, seen=len(episode.turns))


def _as_call(turn: Turn) -> tuple[str, dict[str, Any]]:
    if turn.action is None:
        return "submit", {}
    return name_of(turn.action), arguments_of(turn.action)
