"""A server on loopback that answers model requests from a script, in both protocols."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

KEY = "sk-only-in-the-header-1234567890"


@dataclass(frozen=True)
class Step:
    """One answer of the script."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    waits: bool = False
    """Whether it comes only once the server is closed."""
    drips: bool = False
    """Whether a byte comes now and then, and the answer never ends."""
    takes_s: float = 0.0
    """Seconds before the answer comes."""
    held: bool = False
    """Whether it comes only once `ModelServer.release` was called."""


@dataclass(frozen=True)
class Request:
    """What the server was sent."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: dict[str, Any]


def says(text: str | None, protocol: str, *, ended: str = "", tokens: tuple[int, int] = (100, 50)):
    """A well-formed reply."""
    if protocol == "anthropic":
        content = [] if text is None else [{"type": "text", "text": text}]
        usage = {"input_tokens": tokens[0], "output_tokens": tokens[1]}
        top = {"type": "message", "role": "assistant", "id": "m", "model": "scripted"}
        top |= {"content": content, "stop_reason": ended or "end_turn", "usage": usage}
    else:
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
        choice = {"index": 0, "message": message, "finish_reason": ended or "stop"}
        top = {"id": "c", "object": "chat.completion", "model": "scripted", "created": 1}
        top |= {"choices": [choice], "usage": usage}
    return Step(json.dumps(top).encode())


def fails(status: int, text: str = "no", **headers: str) -> Step:
    """An error as both services word it."""
    body = json.dumps({"type": "error", "error": {"type": "some_error", "message": text}})
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Step(body.encode(), status, named)


class ModelServer:
    """Answers with one step after the other; the last one stays."""

    def __init__(self, *script: Step) -> None:
        self.requests: list[Request] = []
        self._script: Sequence[Step] = script
        self._closing = threading.Event()
        self._released = threading.Event()
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer._answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    def url(self, protocol: str) -> str:
        """The base URL that the protocol's client wants."""
        path = "" if protocol == "anthropic" else "/v1"
        return f"http://127.0.0.1:{self._server.server_port}{path}"

    def release(self) -> None:
        """Let all answers that are held go, and those to come."""
        self._released.set()

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        size = int(handler.headers["content-length"])
        body = json.loads(handler.rfile.read(size))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        with self._lock:
            step = self._script[min(len(self.requests), len(self._script) - 1)]
            self.requests.append(Request(handler.path, headers, body))
        if step.waits:
            self._closing.wait(30)
        if step.takes_s:
            self._closing.wait(step.takes_s)
        if step.held:
            self._released.wait(60)
        try:
            self._send(handler, step)
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True

    def _send(self, handler: BaseHTTPRequestHandler, step: Step) -> None:
        handler.send_response(step.status)
        for name, value in {"content-type": "application/json", **step.headers}.items():
            handler.send_header(name, value)
        size = len(step.body) if not step.drips else 1 << 20
        handler.send_header("content-length", str(size))
        handler.end_headers()
        while step.drips and not self._closing.wait(0.05):
            handler.wfile.write(b" ")
            handler.wfile.flush()
        handler.wfile.write(step.body)
