"""The one endpoint of vLLM that TRL's rollout worker calls, with given answers in turn."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def served(answers: list[list[int]]) -> Generator[str]:
    """The address of a server that completes each prompt with the next token ids."""
    turns = itertools.cycle(answers)
    lock = threading.Lock()

    class Completions(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                ids = next(turns)
            choice = {"token_ids": ids, "logprobs": {"token_logprobs": [-1.0] * len(ids)}}
            body = json.dumps({"choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Completions)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
