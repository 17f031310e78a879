"""Mode `reward`: somebody's reward function, loaded as it was written and called once.

    {"target": {...}, "how": null}                     [nonce, "loaded", how, [modules], details]
    {"target": {...}, "how": how, "plan": {...}}       [nonce, "score", value, shape, printed]
                                                       [nonce, "raised", names, message, printed]
                                                       [nonce, "shape", text, printed]
    with "trace": a file, also                         [nonce, "lines", [line numbers]]
    with "record": a path, also                        [nonce, "recorded", text of that file]

`value` is tagged JSON, so that NaN and infinities arrive. A target is `{module, path, root, entry,
factory}`; a plan is what `unhack.audit.subjects.signatures` builds. Nothing here knows what is
right.

Covered: functions, coroutines, methods (an instance is made), factories, scripts that print;
modules that need packages which are missing (`reward.stub_modules`), whose parent package cannot be
imported, or whose top level does more than define.
Not covered: keeping the completion away from the function: it runs as its author runs it.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import types
from typing import Any

from unhack.core import plain
from unhack.sandbox.guest.candidate import (
    runner,
    serve,
)
from unhack.sandbox.guest.reward import (
    framework_objects,
    multiprocessing_shim,
    scores,
    stub_modules,
    tracing,
)
from unhack.sandbox.guest.reward.modules import HOME, WAYS, find, load, probe

_TAIL = 400
_METHODS = (
    "score_answer", "check_following", "check_answer", "step", "compute_score", "compute",
    "reward", "score", "verify", "evaluate", "grade", "__call__", "forward",
)  # fmt: skip


class Printed(io.StringIO):
    """A text buffer for what is printed; its descriptor is that of the standard error."""

    def fileno(self) -> int:
        """The descriptor, which graders hand to `faulthandler` and to processes of their own."""
        return 2


def run(job: dict[str, Any], channel: runner.Channel) -> int:
    """Mode `reward`."""
    send, nonce = channel.send, job["nonce"]
    stdout, stderr = sys.stdout, sys.stderr
    printed = Printed()
    sys.stdout = sys.stderr = printed
    sys.executable = job["target"]["executable"]
    os.environ.update(job["target"].get("environ", {}))
    multiprocessing_shim.install()
    lay_out(job)
    answer: list[Any]
    trace = tracing.Trace(job["trace"]) if job.get("trace") else None
    try:
        if job.get("how") is None:
            answer = ["loaded", *probe(job["target"], job.get("ways") or WAYS)]
        else:
            answer = _score(job, printed, trace)
    except BaseException as error:
        answer = ["raised", *serve.describe(error)]
    sys.stdout, sys.stderr = stdout, stderr
    send([nonce, *answer, printed.getvalue()[-_TAIL:]])
    if trace is not None:
        send([nonce, "lines", sorted(trace.lines)])
    if job.get("record"):
        send([nonce, "recorded", _text_of(job["record"])])
    channel.flush()
    return 0


def _text_of(path: str) -> str:
    """The text of a file that a recorder may have written (`reward.recorder`)."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def lay_out(job: dict[str, Any], home: str = HOME) -> None:
    """Write the job's files and links to what stands beside the script into the directory."""
    for name, text in job.get("files", {}).items():
        with open(os.path.join(home, name), "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
    folder: str = job.get("beside", "")
    for name in os.listdir(folder) if folder else list[str]():
        if not os.path.lexists(os.path.join(home, name)):
            os.symlink(os.path.join(folder, name), os.path.join(home, name))


def _score(job: dict[str, Any], printed: io.StringIO, trace: tracing.Trace | None) -> list[Any]:
    module = load(job["target"], job["how"]) if job["target"]["entry"] else None
    return answer_of(call(job, printed, module=module, trace=trace))


def call(
    job: dict[str, Any],
    printed: io.StringIO,
    *,
    module: types.ModuleType | None,
    trace: tracing.Trace | None = None,
) -> Any:
    """Call the function of a loaded module with the job's plan; without one, run a program."""
    plan = plain.decode_tags(job["plan"])
    if module is not None:
        function = _bind(module, job["target"], plan)
        stub_modules.USED.clear()
        args = [framework_objects.make(item) for item in plan["args"]]
        kwargs = {name: framework_objects.make(item) for name, item in plan["kwargs"].items()}
        with trace or contextlib.nullcontext():
            value = _await_value(function(*args, **kwargs))
    else:
        value = _run_program(job["target"], plan["args"])
    if value is None and plan.get("prints"):
        return scores.last_json(printed.getvalue())
    return value


def answer_of(value: Any) -> list[Any]:
    """A returned value as the tail of a line: a score, or why it is none."""
    if stub_modules.USED:
        return ["raised", ["ImportError"], f"it uses {stub_modules.USED[0]}, which is missing here"]
    shape, number = scores.read_value(value)
    if number is None:
        return ["shape", shape]
    return ["score", scores.encode_float(number), shape]


def _await_value(value: Any) -> Any:
    """The value of a coroutine or another awaitable; anything else as it is."""
    if not hasattr(value, "__await__"):
        return value
    import asyncio

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def _run_program(target: dict[str, Any], argv: list[Any]) -> Any:
    """A script without a function: it runs as `python script.py ...` does."""
    import runpy

    sys.argv[:] = [target["path"], *map(str, argv)]
    sys.path.insert(0, target["root"])
    sys.path.insert(1, HOME)
    try:
        if target.get("edited"):
            names = {"__name__": "__main__", "__file__": target["path"]}
            exec(compile(target["edited"][1], target["path"], "exec", dont_inherit=True), names)
        else:
            runpy.run_path(target["path"], run_name="__main__")
    except SystemExit as error:
        if error.code not in (None, 0):
            raise


# What is called.


def _bind(module: types.ModuleType, target: dict[str, Any], plan: dict[str, Any]) -> Any:
    """The callable: a function, a method of an instance, or the product of a factory."""
    entry = target["entry"]
    owner, _, method = entry.rpartition(".")
    found = find(module, entry)
    pool = plan.get("pool", {})
    framework_objects.SETTINGS.update(plan.get("settings", {}))
    if isinstance(found, type):
        owner, method = entry, _method_of(found)
    holder = find(module, owner) if owner else None
    if isinstance(holder, type):
        if isinstance(_static(holder, method), (staticmethod, classmethod)):
            return getattr(holder, method)
        instance = framework_objects.instance(holder, pool)
        for name, args, kwargs in plan.get("before", []):
            _await_value(framework_objects.call_with(instance, name, args, {**pool, **kwargs}))
        return getattr(instance, method)
    return framework_objects.from_factory(found, pool) if target.get("factory") else found


def _static(holder: type, name: str) -> Any:
    return next((kind.__dict__[name] for kind in holder.__mro__ if name in kind.__dict__), None)


def _method_of(kind: type) -> str:
    """The method of a class that gives the score."""
    for name in _METHODS:
        if _static(kind, name) is not None and name not in object.__dict__:
            return name
    raise TypeError(f"{kind.__name__} has none of the methods that give scores")
