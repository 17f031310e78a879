"""The address of a language model, from options and the environment.

Covered: OpenAI's protocol and Anthropic's; keys that go to no other address; prices.
Not covered: how it is asked; `model` does that. Headers and proxies that the official clients read
from the environment are theirs.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from unhack.core.errors import UsageError

_MODEL = "UNHACK_LLM_MODEL"


@dataclass(frozen=True, slots=True)
class _Provider:
    """The address of a protocol's own service, and its usual environment variables."""

    key: str
    base: str
    url: str


_PROVIDERS = {
    "openai": _Provider("OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1"),
    "anthropic": _Provider("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model and where it is. Raises UsageError for values that cannot be meant.

    Example:

        url = "http://localhost:8000/v1"
        endpoint = Endpoint("openai", url, "qwen3-8b", prices=(0.2, 0.6))
    """

    protocol: str
    """`openai` or `anthropic`."""
    base_url: str
    """With `/v1` for OpenAI's protocol, without for Anthropic's, as their clients have it."""
    model: str
    key: str = field(default="", repr=False)
    """Empty for a server that wants none."""
    timeout_s: float = 120.0
    """Of each try, from request to reply."""
    retries: int = 2
    prices: tuple[float, float] | None = None
    """USD for a million tokens: input, output. None where they are not known."""
    max_output_tokens: int = 8192

    def __post_init__(self) -> None:
        if self.protocol not in _PROVIDERS:
            raise UsageError(f"{self.protocol!r} is no protocol; there are openai and anthropic")
        if urlsplit(self.base_url).scheme not in ("http", "https"):
            raise UsageError(f"--llm-url: {self.base_url!r} is no http or https address")
        if not self.model:
            raise UsageError("--llm-model: a model must be named")
        for price in self.prices or ():
            if not (math.isfinite(price) and price >= 0):
                raise UsageError(f"{price} is no price of a million tokens in USD")

    @staticmethod
    def from_environment(
        *,
        url: str | None = None,
        model: str | None = None,
        key_env: str | None = None,
        protocol: str | None = None,
        prices: tuple[float, float] | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> Endpoint | None:
        """The endpoint that options and environment name; None where they name none.

        A model must be named, by option or UNHACK_LLM_MODEL: a key alone spends nothing. A key of
        the environment is sent to the address that the environment names or to the provider's own;
        to a `url` of the options only with `key_env`.

        Raises UsageError when options are given that do not make an endpoint.
        """
        asked = any(option is not None for option in (url, model, key_env, protocol))
        name = model or environ.get(_MODEL, "").strip()
        if not name:
            if asked:
                raise UsageError(f"no model is named; give --llm-model NAME or set {_MODEL}")
            return None
        spoken = protocol or _protocol_of(url, key_env, name, environ)
        if spoken not in _PROVIDERS:
            raise UsageError(f"{spoken!r} is no protocol; there are openai and anthropic")
        provider = _PROVIDERS[spoken]
        known = environ.get(provider.base, "").strip() or provider.url
        base = url or known
        key = environ.get(key_env or provider.key, "").strip()
        if key_env and not key:
            raise UsageError(f"--llm-key-env: {key_env} is not set")
        if not key_env and base.rstrip("/") not in (known.rstrip("/"), provider.url):
            key = ""
        if not key and base == provider.url:
            if asked:
                raise UsageError(
                    f"there is no key for {base}; set {provider.key} or give --llm-url"
                )
            return None
        if spoken == "anthropic":
            base = base.rstrip("/").removesuffix("/v1")
        return Endpoint(spoken, base, name, key, prices=prices)


def _protocol_of(
    url: str | None, key_env: str | None, model: str, environ: Mapping[str, str]
) -> str:
    """The protocol that goes with the rest."""
    hints = " ".join((url or "", key_env or "")).lower()
    if hints.strip():
        return "anthropic" if "anthropic" in hints else "openai"
    openai, anthropic = (
        any(environ.get(name, "").strip() for name in (provider.key, provider.base))
        for provider in _PROVIDERS.values()
    )
    if openai and anthropic:
        return "anthropic" if model.lower().startswith("claude") else "openai"
    return "anthropic" if anthropic else "openai"
