# pyright: basic
"""Runs probes on a solution twice, in one process and across a seal, without a sandbox.

    python sealed_pair.py  <  {"source": ..., "probes": [...], "declared": [...]}

prints a list of [inside, across]. A probe is the source of a file that imports `solution` and binds
`out`; an outcome is what it bound, or what it raised, or the violation of the seal.
"""

import dataclasses  # noqa: F401  its errors cross where a script has it
import importlib.util
import json
import os
import re
import socket
import sys
import tempfile
import types
from typing import Any

PATH = "/scratch/work/probe.py"


def outcome(probe: str, names: dict) -> list:
    space = {"__name__": "probe", **names}
    try:
        exec(compile(probe, PATH, "exec", dont_inherit=True), space)
    except BaseException as error:
        known = type(error).__module__ in ("builtins", "solution")
        return [
            "raised",
            type(error).__qualname__ if known else str(type(error)),
            placeless(str(error)),
        ]
    return ["value", shown(space.get("out"))]


def placeless(text: str) -> str:
    """A text without addresses of objects."""
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def shown(value: Any) -> Any:
    kind = type(value)
    if isinstance(value, type):
        return ["class", value.__qualname__]
    if kind in (list, tuple):
        return [kind.__name__, *map(shown, value)]
    if kind is dict:
        return [kind.__name__, *([shown(key), shown(item)] for key, item in value.items())]
    if kind in (set, frozenset):
        return [kind.__name__, *sorted(map(str, map(shown, value)))]
    if kind.__module__ in ("builtins", "collections", "decimal", "datetime", "fractions"):
        if kind.__name__ in ("function", "generator", "method", "module"):
            return kind.__name__
        return [kind.__name__, placeless(repr(value))]
    return [kind.__module__, kind.__qualname__]


def serve_child(end: socket.socket, modules: dict) -> None:
    from unhack.sandbox.guest.candidate import serve

    os.dup2(end.fileno(), 4)
    channel = types.SimpleNamespace(send=lambda line: None, flush=lambda: None)
    serve.run({"modules": modules}, channel)
    os._exit(0)


def fresh(name: str, source: str) -> types.ModuleType:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(source, "<completion>", "exec", dont_inherit=True), module.__dict__)
    return module


def inside(job: dict) -> list:
    found = []
    for probe in job["probes"]:
        fresh("solution", job["source"])
        found.append(outcome(probe, {}))
    del sys.modules["solution"]
    return found


def across(job: dict) -> list:
    from unhack.sandbox.guest.judge import modules
    from unhack.sandbox.guest.judge.connection import CandidateConnection

    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        serve_child(theirs, {"solution": job["source"]})
    theirs.close()
    os.dup2(ours.fileno(), 4)
    seal = CandidateConnection(["solution"], wait_s=60.0, declared=job.get("declared", ()))
    seal.open()
    home = tempfile.mkdtemp()
    path = os.path.join(home, "solution.py")
    with open(path, "w") as file:
        file.write(modules.stub("solution"))
    imports = modules.Imports(seal, home)
    seal.forget_stale = imports.forget_stale
    imports.install()
    found = []
    for probe in job["probes"]:
        seal.violation = ""
        spec = importlib.util.spec_from_file_location("solution", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["solution"] = module
        spec.loader.exec_module(module)
        result = outcome(probe, {})
        assert not seal.ended, (seal.ended, probe)
        found.append(["refused", seal.violation] if seal.violation else result)
    return found


def main() -> None:
    job = json.load(sys.stdin)
    stdout = os.dup(1)
    os.dup2(2, 1)
    reports = []
    for run in (inside, across):
        read, write = os.pipe()
        if os.fork() == 0:
            with open(write, "w") as file:
                json.dump(run(job), file)
            os._exit(0)
        os.close(write)
        with open(read) as file:
            reports.append(json.loads(file.read() or '["died"]'))
    os.write(stdout, json.dumps(list(zip(*reports, strict=True))).encode())


if __name__ == "__main__":
    main()
