"""One container of a foreign grader, played inside the sandbox: an agent, then the grader beside
what the agent has left.

It runs as a program of the sandbox, knows the standard library alone and is as trusting as the
harnesses that it stands for: it follows links, lets background processes live, takes the shell's
start files and the PATH as they are. `container` starts it and reads its last line.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import stat
import subprocess  # noqa: TID251  # this module is a program of the sandbox
import sys
import tempfile
from typing import Any

PLACE = "/tmp/.container"
"""The folder behind /tests and /logs, which are made of links."""
MAX_LOG = 2 << 20
MAX_KEPT = 1 << 20


def main() -> None:
    """Read an order from standard input, carry it out, print what was seen."""
    order: dict[str, Any] = json.load(sys.stdin)
    for name in ("logs/verifier", "logs/agent", "tests"):
        os.makedirs(f"{PLACE}/{name}", exist_ok=True)
    log = bytearray()
    _shell(order["setup"], seconds=60)
    start = _snapshot()
    for actions in order["episodes"]:
        _restore(start)
        for name, arguments in actions:
            log += _act(name, arguments, seconds=order["command_s"])
    found = {"files": _declared(order["editable"])}
    shutil.rmtree(f"{PLACE}/tests", ignore_errors=True)
    for path, text in order["tests"].items():
        place = f"{PLACE}/tests/{path}"
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(base64.b64decode(text))
    code, said = _shell(order["script"], seconds=order["grader_s"])
    found |= {"exit": code, "log": _text(said), "agent_log": _text(bytes(log))}
    for name in ("reward.txt", "reward.json"):
        try:
            with open(f"{PLACE}/logs/verifier/{name}") as file:
                found["reward"] = file.read(4096)
                break
        except (OSError, ValueError):
            pass
    sys.stdout.write("\n" + order["nonce"] + json.dumps(found) + "\n")


def _shell(script: str, *, seconds: float) -> tuple[int | None, bytes]:
    """The exit code of a login shell's script, None after its time, and both its streams."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            ["bash", "-l", "-c", script], stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
        try:
            code: int | None = process.wait(seconds or None)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = None
        out.seek(0)
        return code, out.read(MAX_LOG)


def _act(name: str, arguments: Any, *, seconds: float) -> bytes:
    """One action of the agent; a file that cannot be written is left as it was."""
    if name == "run":
        return _shell(arguments["command"], seconds=seconds)[1]
    try:
        if name == "write":
            path = arguments["path"]
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "w") as file:
                file.write(arguments["text"])
        elif name == "patch":
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(arguments["patch"])
                file.flush()
                return _shell(f"patch -p1 --batch < {file.name}", seconds=seconds)[1]
        elif name not in ("read", "list", "search", "test", "submit"):
            raise ValueError(f"no such action: {name}")
    except OSError as error:
        return str(error).encode()
    return b""


def _snapshot() -> str:
    """A copy of the workspace, out of the agent's way."""
    place = tempfile.mkdtemp(dir="/dev/shm")
    shutil.copytree(".", f"{place}/all", symlinks=True)
    return f"{place}/all"


def _restore(start: str) -> None:
    """The workspace as it was: the next episode of a container that is used again."""
    for name in os.listdir("."):
        if os.path.isdir(name) and not os.path.islink(name):
            shutil.rmtree(name, ignore_errors=True)
        else:
            os.unlink(name)
    shutil.copytree(start, ".", symlinks=True, dirs_exist_ok=True)


def _declared(editable: list[str]) -> dict[str, str]:
    """The regular files that are handed in, in base 64."""
    found: dict[str, str] = {}
    for folder, _, names in os.walk("."):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), ".")
            if not any(
                path == one or (one[-1] == "/" and path.startswith(one)) for one in editable
            ):
                continue
            try:
                seen = os.lstat(path)
                if stat.S_ISREG(seen.st_mode) and seen.st_size <= MAX_KEPT:
                    with open(path, "rb") as file:
                        found[path] = base64.b64encode(file.read()).decode()
            except OSError:
                continue
    return found


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


if __name__ == "__main__":
    main()
