"""The options that name a language model, and the endpoint that they name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from unhack.cli.options import valued
from unhack.core.errors import UsageError

if TYPE_CHECKING:
    from unhack.agents.language_models.endpoint import Endpoint


@dataclass(frozen=True, kw_only=True)
class LanguageModelOptions:
    """Options of a command that asks a language model."""

    llm_model: Annotated[
        str | None, valued("The model; else UNHACK_LLM_MODEL.", metavar="NAME")
    ] = None
    llm_url: Annotated[
        str | None, valued("Its endpoint, if not the environment's.", metavar="URL")
    ] = None
    llm_key_env: Annotated[
        str | None, valued("The variable that holds its key.", metavar="NAME")
    ] = None
    llm_protocol: Annotated[
        str | None, valued("openai or anthropic, if it cannot be inferred.", metavar="NAME")
    ] = None
    llm_prices: Annotated[
        str | None, valued("USD per million input and output tokens.", metavar="IN,OUT")
    ] = None
    llm_cost: Annotated[float, valued("Maximum cost in USD.", metavar="USD", least=0)] = 1.0

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
