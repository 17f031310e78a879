"""The language model of `unhack audit`, as its options name it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unhack.audit.language_models.attacker import ModelAttacker
    from unhack.cli.audit.arguments import AuditArguments


def attacker_of(arguments: AuditArguments) -> ModelAttacker | None:
    """The language model that options or environment name. Raises UsageError."""
    from unhack.agents.language_models.endpoint import Endpoint
    from unhack.agents.language_models.model import Model
    from unhack.audit.language_models.attacker import ModelAttacker

    endpoint = Endpoint.from_environment(
        url=arguments.llm_url,
        model=arguments.llm_model,
        key_env=arguments.llm_key_env,
        protocol=arguments.llm_protocol,
        prices=_prices(arguments.llm_prices),
    )
    if endpoint is None:
        return None
    return ModelAttacker(Model(endpoint, cost_limit_usd=arguments.llm_cost, folder=arguments.run))


def _prices(text: str | None) -> tuple[float, float] | None:
    from unhack.core.errors import UsageError

    if text is None:
        return None
    try:
        given, taken = map(float, text.split(","))
    except ValueError:
        raise UsageError(f"--llm-prices: {text!r} is not IN,OUT, such as 3,15") from None
    return given, taken
