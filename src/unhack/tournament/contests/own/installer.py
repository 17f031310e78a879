"""The process that runs pip for a contest's packages (see `packages`).

Covered: wheels only, so that no package's code runs here; compiled files that do not depend on
times; what pip says when it fails.
Not covered: trust in what a wheel holds: it runs where submissions run.
"""

from __future__ import annotations

import compileall
import contextlib
import importlib
import io
import json
import os
import py_compile
import socket
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

_SHOWN = 600


def main(config: dict[str, Any]) -> None:
    """Install `wanted` into `into`, and say on the link how it went."""
    with socket.socket(fileno=config["link"]) as link:
        try:
            said = _install(config["wanted"], Path(config["into"]), prefix=config["prefix"])
        except BaseException as error:
            said = {"error": f"{type(error).__name__}: {error}"[:_SHOWN]}
        link.sendall(json.dumps(said).encode())


def _install(wanted: list[str], into: Path, *, prefix: str) -> dict[str, Any]:
    own = Path(prefix) / "pip.conf"
    if own.is_file():  # of the environment that the user started, which this interpreter is not
        os.environ.setdefault("PIP_CONFIG_FILE", str(own))
    sys.argv = ["pip"]
    pip: Any = importlib.import_module("pip._internal.cli.main")
    said = io.StringIO()
    arguments = [
        "install", "--target", str(into), "--only-binary", ":all:", "--no-compile", "--no-input",
        "--quiet", "--disable-pip-version-check", "--no-warn-conflicts",
        "--root-user-action=ignore", "--", *wanted,
    ]  # fmt: skip
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        code = pip.main(arguments)
    if code:
        lines = [line for line in said.getvalue().splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        return {"error": " / ".join(errors)[:_SHOWN] or f"pip ended with {code}"}
    for path in into.rglob("direct_url.json"):
        path.unlink()  # where it came from on this host, which differs from host to host
    compileall.compile_dir(
        into, quiet=2, force=True, ddir="/packages",
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )  # fmt: skip
    found = {f"{item.name}=={item.version}" for item in metadata.distributions(path=[str(into)])}
    return {"versions": sorted(found)}
