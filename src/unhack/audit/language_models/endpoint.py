"""A language model behind an endpoint: asked through its provider's client, within a cost cap.

Covered: OpenAI's chat completions and what speaks like them, Anthropic's messages; retries, time
limits, a cap in USD or in tokens, and a transcript that an interrupted audit goes on from.
Not covered: streaming, tools and images. Headers and proxies that the official clients read from
the environment are theirs.
"""

from __future__ import annotations

import json
import math
import os
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from unhack.audit.language_models.replies import (
    ModelError,
    Reply,
    Trouble,
    read_anthropic,
    read_openai,
    read_transcript,
)
from unhack.core.errors import UsageError
from unhack.core.hashing import content_hash
from unhack.store.errors import storing
from unhack.store.files import append_whole

_FILE = "transcript.jsonl"
_MODEL = "UNHACK_LLM_MODEL"
_NO_KEY = "none"
"""Both clients insist on a key; servers of one's own often have none."""
_SHORTEST_SECRET = 8
"""Shorter ones are placeholders, and pieces of words."""
_LETTERS_A_TOKEN = 3
"""Fewer than in most text, so that an estimate is rather too high."""
_LONGEST_PAUSE_S = 60.0
"""The clients wait no longer than this before they try again."""
_SHOWN = 300


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
class Message:
    """One turn of a conversation."""

    role: str
    """`user` or `assistant`."""
    text: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model and where it is. Raises UsageError for values that cannot be meant."""

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


class Model:
    """Asks an endpoint, counts what it costs, and keeps every exchange."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        cost_limit_usd: float = 1.0,
        token_limit: int = 300_000,
        folder: Path | None = None,
    ) -> None:
        """`token_limit` counts where the endpoint has no prices. What `transcript.jsonl` of
        `folder` has is not asked again, but it counts.

        Raises UsageError when the client is not installed.
        """
        self.endpoint = endpoint
        self.cost_limit_usd, self.token_limit = cost_limit_usd, token_limit
        self.input_tokens = self.output_tokens = 0
        self._sdk = _client_module(endpoint.protocol)
        self._cap_word = "max_completion_tokens"
        self._path = None if folder is None else folder / _FILE
        self._turns: Counter[str] = Counter()
        self._known = {} if self._path is None else read_transcript(self._path)

    @property
    def cost_usd(self) -> float | None:
        """The cost so far; None without prices."""
        return self._price(self.input_tokens, self.output_tokens)

    def ask(self, system: str, messages: Sequence[Message], *, within_s: float = math.inf) -> Reply:
        """The model's reply. Waits at most `within_s` seconds, retries included.

        Raises ModelError with its reason when there is none, StoreError where the transcript cannot
        be written.
        """
        turns = [
            {"role": message.role, "content": _encodable(message.text)} for message in messages
        ]
        system = _encodable(system)
        base = content_hash(self.endpoint.protocol, self.endpoint.model, system, json.dumps(turns))
        self._turns[base] += 1
        key = f"{base}/{self._turns[base]}"
        reply = self._known.get(key)
        if reply is not None:
            self._count(reply.input_tokens, reply.output_tokens)
            return reply
        request = {
            "key": key,
            "model": self.endpoint.model,
            "system": self._without_key(system),
            "messages": [{**turn, "content": self._without_key(turn["content"])} for turn in turns],
        }
        started = time.monotonic()
        try:
            reply = self._ask(system, turns, within_s)
        except ModelError as error:
            said = {"error": str(error)}
            self._note({**request, **said, "seconds": round(time.monotonic() - started, 3)})
            raise
        said = {
            "reply": reply.text,
            "input_tokens": reply.input_tokens,
            "output_tokens": reply.output_tokens,
            "usd": self._price(reply.input_tokens, reply.output_tokens),
        }
        self._note({**request, **said, "seconds": round(time.monotonic() - started, 3)})
        return reply

    def _ask(self, system: str, turns: list[dict[str, str]], within_s: float) -> Reply:
        letters = len(system) + sum(len(turn["content"]) for turn in turns)
        guess = letters // _LETTERS_A_TOKEN + 1
        self._check_cap(guess)
        tries = self.endpoint.retries + 1
        longest = tries * (self.endpoint.timeout_s + _LONGEST_PAUSE_S)
        try:
            body = _wait(lambda: self._send(system, turns), min(within_s, longest))
        except Exception as error:
            found = self._trouble(error)
            if found.reason is Trouble.TIMEOUT:
                # Nobody knows what the server charges for a reply that was not waited for.
                self._count(tries * guess, tries * self.endpoint.max_output_tokens)
            raise found from None
        read = read_anthropic if self.endpoint.protocol == "anthropic" else read_openai
        try:
            text, input_tokens, output_tokens = read(
                self._without_key(body.decode("utf-8", "replace"))
            )
        except ModelError:
            self._count(guess, self.endpoint.max_output_tokens)
            raise
        used = (input_tokens or guess, output_tokens or len(text) // _LETTERS_A_TOKEN + 1)
        self._count(*used)
        return Reply(text, *used)

    def _send(self, system: str, turns: list[dict[str, str]]) -> bytes:
        """The body of the answer to one request, as the client's retries got it."""
        point = self.endpoint
        options: dict[str, Any] = {
            "api_key": point.key or _NO_KEY,
            "base_url": point.base_url,
            "timeout": point.timeout_s,
            "max_retries": point.retries,
        }
        request: dict[str, Any] = {"model": point.model, "messages": turns}
        if point.protocol == "anthropic":
            with self._sdk.Anthropic(**options) as client:
                create = client.messages.with_raw_response.create
                response = create(**request, system=system, max_tokens=point.max_output_tokens)
                return response.http_response.content
        request["messages"] = [{"role": "system", "content": system}, *turns]
        with self._sdk.OpenAI(**options) as client:
            create = client.chat.completions.with_raw_response.create
            try:
                response = create(**request, **{self._cap_word: point.max_output_tokens})
            except (self._sdk.BadRequestError, self._sdk.UnprocessableEntityError) as error:
                # Older servers know it by its older name only.
                if self._cap_word not in str(error) or self._cap_word == "max_tokens":
                    raise
                self._cap_word = "max_tokens"
                response = create(**request, max_tokens=point.max_output_tokens)
            return response.http_response.content

    def _trouble(self, error: Exception) -> ModelError:
        """The client's error as a ModelError, without the key."""
        sdk, text = self._sdk, " ".join(self._without_key(str(error)).split())[:_SHOWN]
        if isinstance(error, TimeoutError | sdk.APITimeoutError):
            return ModelError(Trouble.TIMEOUT, text)
        if isinstance(error, sdk.APIStatusError):
            code = int(getattr(error, "status_code", 0))
            known = {408: Trouble.TIMEOUT, 429: Trouble.BUSY}
            reason = known.get(code, Trouble.SERVER if code >= 500 else Trouble.REJECTED)
            return ModelError(reason, text)
        if isinstance(error, sdk.APIConnectionError):
            where = urlsplit(self.endpoint.base_url)
            return ModelError(Trouble.UNREACHABLE, f"{text} {where.hostname} {where.port or ''}")
        return ModelError(Trouble.MALFORMED, f"{type(error).__name__}: {text}")

    def _check_cap(self, guess: int) -> None:
        """Raises ModelError when the request may cost more than is left."""
        most = self.endpoint.max_output_tokens
        used = self.cost_usd
        ahead = self._price(guess, most)
        if used is not None and ahead is not None:
            if used + ahead > self.cost_limit_usd:
                text = f"{used:.4f} USD used, the next request may cost {ahead:.4f}"
                raise ModelError(Trouble.SPENT, f"{text}, the cap is {self.cost_limit_usd:g}")
            return
        tokens = self.input_tokens + self.output_tokens
        if tokens + guess + most > self.token_limit:
            text = f"{tokens} tokens used, the next request may take {guess + most}"
            raise ModelError(Trouble.SPENT, f"{text}, the cap is {self.token_limit}")

    def _price(self, input_tokens: int, output_tokens: int) -> float | None:
        if self.endpoint.prices is None:
            return None
        return (
            input_tokens * self.endpoint.prices[0] + output_tokens * self.endpoint.prices[1]
        ) / 1e6

    def _count(self, input_tokens: int, output_tokens: int) -> None:
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens

    def _without_key(self, text: str) -> str:
        key = self.endpoint.key
        return text.replace(key, "[key]") if len(key) >= _SHORTEST_SECRET else text

    def _note(self, entry: dict[str, Any]) -> None:
        if self._path is None:
            return
        with storing(self._path.parent):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            append_whole(self._path, f"{json.dumps(entry)}\n".encode("ascii"), sync=False)


def _client_module(protocol: str) -> Any:
    try:
        if protocol == "anthropic":
            import anthropic

            return anthropic
        import openai

        return openai
    except ImportError:
        raise UsageError(
            f"the package {protocol} is not installed: pip install '.[llm]' in a checkout of unhack"
        ) from None


def _wait(send: Callable[[], bytes], within_s: float) -> bytes:
    """Run `send` in a thread: its result or error; TimeoutError after `within_s` seconds.

    A server that sends a byte now and then never trips the client's own limit.
    """
    box: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()

    def work() -> None:
        try:
            box.put(send())
        except Exception as error:
            box.put(error)

    threading.Thread(target=work, daemon=True, name="unhack-model").start()
    try:
        found = box.get(timeout=max(within_s, 0.0))
    except queue.Empty:
        raise TimeoutError(f"no reply within {within_s:.0f} seconds") from None
    if isinstance(found, Exception):
        raise found
    return found


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
