"""The agents of `unhack env run` by name."""

from __future__ import annotations

from unhack.cli.env.order import EnvRunOrder
from unhack.core.errors import UsageError
from unhack.environments.episode_pool import EpisodePlayer
from unhack.environments.players.scripted import IdlePlayer, RandomPlayer, ReferencePlayer


def choose_player(order: EnvRunOrder) -> EpisodePlayer:
    """The player that the options name. Raises UsageError for a name that is none, and for a chat
    agent without a model."""
    kind, _, rest = order.agent.partition(":")
    if order.agent == "solver":
        return ReferencePlayer()
    if order.agent == "idle":
        return IdlePlayer()
    if kind == "random" and (not rest or rest.lstrip("-").isdigit()):
        return RandomPlayer(int(rest or 0))
    if order.agent == "chat":
        return _chat(order)
    raise UsageError(f"{order.agent!r} is no agent; there are solver, idle, random:SEED and chat")


def _chat(order: EnvRunOrder) -> EpisodePlayer:
    # The clients of language models are an extra that the other agents do without.
    from unhack.agents.chat.agent import ChatAgent, make_meter
    from unhack.agents.language_models.endpoint import Endpoint
    from unhack.environments.players.acting import ActingPlayer

    endpoint = Endpoint.from_environment(
        url=order.llm_url, model=order.llm_model, key_env=order.llm_key_env
    )
    if endpoint is None:
        raise UsageError("--agent chat needs a model: --llm-model NAME, or UNHACK_LLM_MODEL")
    return ActingPlayer(ChatAgent(endpoint, make_meter(endpoint, cost_limit_usd=order.llm_cost)))
