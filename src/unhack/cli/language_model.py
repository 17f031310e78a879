"""The options that name a language model, and the endpoint that they name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unhack.cli.options import opt
from unhack.core.errors import UsageError

if TYPE_CHECKING:
    from unhack.agents.language_models.endpoint import Endpoint


@dataclass(frozen=True, kw_only=True)
class LanguageModelOptions:
    """Options of a command that asks a language model."""

    llm_model: str | None = opt(None, "The model; else UNHACK_LLM_MODEL.", metavar="NAME")
    llm_url: str | None = opt(None, "Its endpoint, if not the environment's.", metavar="URL")
    llm_key_env: str | None = opt(None, "The variable that holds its key.", metavar="NAME")
    llm_protocol: str | None = opt(
        None, "openai or anthropic, if it cannot be inferred.", metavar="NAME"
    )
    llm_prices: str | None = opt(None, "USD per million input and output tokens.", metavar="IN,OUT")
    llm_cost: float = opt(1.0, "Maximum cost in USD.", metavar="USD", least=0)

    def endpoint(self) -> Endpoint | None:
        """The endpoint that the options or the environment name; None where they name no model.

        Raises UsageError.
        """
        from unhack.agents.language_models.endpoint import Endpoint

        return Endpoint.from_environment(
            url=self.llm_url,
            model=self.llm_model,
            key_env=self.llm_key_env,
            protocol=self.llm_protocol,
            prices=_prices(self.llm_prices),
        )


def _prices(text: str | None) -> tuple[float, float] | None:
    """USD for a million tokens in and out, of `3,15`. Raises UsageError."""
    if text is None:
        return None
    try:
        given, taken = map(float, text.split(","))
    except ValueError:
        raise UsageError(f"--llm-prices: {text!r} is not IN,OUT, such as 3,15") from None
    return given, taken
