"""A loopback server that plays the model: each request gets the next step of a script.

It speaks the streaming forms of the Messages, Responses, Chat Completions and generateContent
interfaces. A step is a shell command, which becomes a call of whichever tool of the request runs
commands, or words, which end the turn.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

INPUT, OUTPUT = 1000, 100
"""Tokens of every answer."""
_PATIENCE_S = 120.0
SHELLS = ("Bash", "exec_command", "shell", "run_shell_command", "bash")
ARGUMENT = {"exec_command": "cmd"}


def _set() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


@dataclass
class Script:
    """What the model does, and what it was asked."""

    steps: list[str]
    """`$ command` or words; the last one is repeated."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    pause_s: float = 0.0
    """Before the last event of an answer."""
    goes_on: threading.Event = field(default_factory=_set)
    """What the last event of an answer waits for."""
    at: int = 0

    def next(self) -> str:
        """The step of this request."""
        step = self.steps[min(self.at, len(self.steps) - 1)]
        self.at += 1
        return step


def tool_of(body: dict[str, Any]) -> str:
    """The tool of a request that runs commands; empty where it has none (titles, summaries)."""
    names: list[str] = []
    for tool in body.get("tools") or []:
        declared = tool.get("functionDeclarations") or [tool]
        for item in [*declared, *(tool.get("tools") or [])]:
            names.append(item.get("name") or item.get("function", {}).get("name", ""))
    return next((name for name in SHELLS if name in names), "")


def call_of(step: str, tool: str) -> dict[str, Any]:
    """The arguments of a command."""
    arguments: dict[str, Any] = {ARGUMENT.get(tool, "command"): step.removeprefix("$ ")}
    if tool in ("Bash", "bash", "run_shell_command"):
        arguments["description"] = "a step"
    if tool == "run_shell_command":
        arguments["is_background"] = False
    return arguments


def anthropic(step: str, tool: str) -> Generator[tuple[str, dict[str, Any]]]:
    usage = {"input_tokens": INPUT, "output_tokens": 1}
    message = {"id": f"msg_{time.monotonic_ns()}", "type": "message", "role": "assistant",
               "model": "claude-sonnet-4-5", "content": [], "stop_reason": None}  # fmt: skip
    message["usage"] = usage
    yield "message_start", {"type": "message_start", "message": message}
    if step.startswith("$ ") and tool:
        block: dict[str, Any] = {"type": "tool_use", "id": f"toolu_{time.monotonic_ns()}",
                                 "name": tool, "input": {}}  # fmt: skip
        text = json.dumps(call_of(step, tool))
        delta, reason = {"type": "input_json_delta", "partial_json": text}, "tool_use"
    else:
        block = {"type": "text", "text": ""}
        delta, reason = {"type": "text_delta", "text": step}, "end_turn"
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": reason, "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": end,
                            "usage": {"output_tokens": OUTPUT}}  # fmt: skip
    yield "message_stop", {"type": "message_stop"}


def responses(step: str, tool: str) -> Generator[tuple[str, dict[str, Any]]]:
    name = f"resp_{time.monotonic_ns()}"
    yield "response.created", {"type": "response.created", "response": {"id": name}}
    if step.startswith("$ ") and tool:
        item: dict[str, Any] = {"type": "function_call", "call_id": f"call_{name}", "name": tool,
                                "arguments": json.dumps(call_of(step, tool))}  # fmt: skip
    else:
        item = {"type": "message", "role": "assistant", "id": f"m_{name}",
                "content": [{"type": "output_text", "text": step}]}  # fmt: skip
    done = "response.output_item.done"
    yield done, {"type": done, "output_index": 0, "item": item}
    usage = {"input_tokens": INPUT, "input_tokens_details": {"cached_tokens": 0},
             "output_tokens": OUTPUT, "output_tokens_details": {"reasoning_tokens": 0},
             "total_tokens": INPUT + OUTPUT}  # fmt: skip
    yield "response.completed", {"type": "response.completed",
                                 "response": {"id": name, "usage": usage}}  # fmt: skip


def chat(step: str, tool: str) -> Generator[tuple[str, dict[str, Any]]]:
    base = {"id": f"c{time.monotonic_ns()}", "object": "chat.completion.chunk", "created": 1,
            "model": "gpt-5.2"}  # fmt: skip
    delta: dict[str, Any] = {"role": "assistant", "content": step}
    reason = "stop"
    if step.startswith("$ ") and tool:
        function = {"name": tool, "arguments": json.dumps(call_of(step, tool))}
        call = {"index": 0, "id": f"call_{base['id']}", "type": "function", "function": function}
        delta, reason = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
    yield "", {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield "", {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    usage = {"prompt_tokens": INPUT, "completion_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT}
    yield "", {**base, "choices": [], "usage": usage}


def gemini(step: str, tool: str) -> Generator[tuple[str, dict[str, Any]]]:
    part: dict[str, Any] = {"text": step}
    if step.startswith("$ ") and tool:
        part = {"functionCall": {"name": tool, "args": call_of(step, tool)}}
    candidate = {"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [part]}}
    usage = {"promptTokenCount": INPUT, "candidatesTokenCount": OUTPUT,
             "totalTokenCount": INPUT + OUTPUT}  # fmt: skip
    yield "", {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-pro"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Script

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the tests look at the script."""

    def do_GET(self) -> None:
        self.script.paths.append(self.path)
        self._answer(200, {"data": [], "models": []})

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        script, path = self.script, self.path.partition("?")[0]
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        key = self.headers.get("x-api-key") or self.headers.get("x-goog-api-key") or bearer
        script.keys.append(key)
        script.paths.append(self.path)
        script.asked.append(body)
        tool = tool_of(body)
        forms = {"messages": anthropic, "responses": responses, "completions": chat}
        form = gemini if "GenerateContent" in path else forms.get(path.rpartition("/")[2])
        if form is None:
            self._answer(200, {"input_tokens": INPUT, "totalTokens": INPUT})
            return
        step = script.next() if tool else "words"
        if path.endswith(":generateContent"):
            self._answer(200, next(gemini(step, tool))[1])
            return
        self._stream(form(step, tool), done=form is chat)

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Generator[tuple[str, dict[str, Any]]], *, done: bool) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # whoever asked may have gone
            self._send(list(events), done=done)

    def _send(self, held: list[tuple[str, dict[str, Any]]], *, done: bool) -> None:
        for number, (name, data) in enumerate(held):
            if number == len(held) - 1:
                time.sleep(self.script.pause_s)
                self.script.goes_on.wait(_PATIENCE_S)
            line = f"event: {name}\n" if name else ""
            self._chunk(f"{line}data: {json.dumps(data)}\n\n")
        if done:
            self._chunk("data: [DONE]\n\n")
        self._chunk("")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()


@contextmanager
def playing(script: Script) -> Generator[str]:
    """Its base address for the length of a block."""
    handler = type("Handler", (_Handler,), {"script": script})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
