"""Mode `reward`: somebody's reward function, loaded as it was written and called once.

    {"target": {...}, "how": null}                     [nonce, "loaded", how, [modules], details]
    {"target": {...}, "how": how, "plan": {...}}       [nonce, "score", value, shape, printed]
                                                       [nonce, "raised", names, message, printed]
                                                       [nonce, "shape", text, printed]
    with "trace": a file, also                         [nonce, "lines", [line numbers]]

`value` is tagged JSON, so that NaN and infinities arrive. A target is `{module, path, root, entry,
factory}`; a plan is what `unhack.audit.signatures` builds. Nothing here knows what is right.

Covered: functions, coroutines, methods (an instance is made), factories, scripts that print;
modules that need packages which are missing (`guest.permissive`), whose parent package cannot be
imported, or whose top level does more than define.
Not covered: keeping the completion away from the function: it runs as its author runs it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import types
from typing import Any, cast

from unhack.core import plain
from unhack.sandbox.guest import made, permissive, runner, serve, tracing

HOME = "/scratch/work"
WAYS = ("import", "stand-ins", "file", "slice")
"""How a module is loaded, the most faithful first. What a message calls `how` is a way, a colon,
and the names of missing modules that are replaced besides the heavy ones."""
_MOST_MISSING = 25
_TAIL = 400
_KEYS = (
    "score", "reward", "rewards", "scores", "overall", "acc", "accuracy", "exact_match",
    "is_correct", "correct", "passed", "success", "value", "result", "prompt_level_strict_acc",
)  # fmt: skip
_ATTRIBUTES = ("score", "reward", "value", "is_correct", "correct", "total", "passed")
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_METHODS = (
    "score_answer", "check_following", "check_answer", "step", "compute_score", "compute",
    "reward", "score", "verify", "evaluate", "grade", "__call__", "forward",
)  # fmt: skip


def run(job: dict[str, Any], channel: runner.Channel) -> int:
    """Mode `reward`."""
    send, nonce = channel.send, job["nonce"]
    stdout, stderr = sys.stdout, sys.stderr
    printed = io.StringIO()
    sys.stdout = sys.stderr = printed
    _lay_out(job)
    answer: list[Any]
    trace = tracing.Trace(job["trace"]) if job.get("trace") else None
    try:
        if job.get("how") is None:
            answer = ["loaded", *_probe(job["target"])]
        else:
            answer = _score(job, printed, trace)
    except BaseException as error:
        answer = ["raised", *serve.describe(error)]
    sys.stdout, sys.stderr = stdout, stderr
    send([nonce, *answer, printed.getvalue()[-_TAIL:]])
    if trace is not None:
        send([nonce, "lines", sorted(trace.lines)])
    channel.flush()
    return 0


def _lay_out(job: dict[str, Any]) -> None:
    """Files of the job in the working directory, and links to what stands beside the script."""
    for name, text in job.get("files", {}).items():
        with open(os.path.join(HOME, name), "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
    folder: str = job.get("beside", "")
    for name in os.listdir(folder) if folder else list[str]():
        if not os.path.lexists(os.path.join(HOME, name)):
            os.symlink(os.path.join(folder, name), os.path.join(HOME, name))


def _score(job: dict[str, Any], printed: io.StringIO, trace: tracing.Trace | None) -> list[Any]:
    plan = plain.raise_tags(job["plan"])
    if job["target"]["entry"]:
        function = _bind(_load(job["target"], job["how"]), job["target"], plan)
        permissive.USED.clear()
        args = [made.make(item) for item in plan["args"]]
        kwargs = {name: made.make(item) for name, item in plan["kwargs"].items()}
        with trace or contextlib.nullcontext():
            value = _finished(function(*args, **kwargs))
    else:
        value = _run_program(job["target"], plan["args"])
    if value is None and plan.get("prints"):
        value = _last_json(printed.getvalue())
    if permissive.USED:
        return ["raised", ["ImportError"], f"it uses {permissive.USED[0]}, which is missing here"]
    shape, number = read_value(value)
    if number is None:
        return ["shape", shape]
    return ["score", plain.lower(number), shape]


def _finished(value: Any) -> Any:
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
        runpy.run_path(target["path"], run_name="__main__")
    except SystemExit as error:
        if error.code not in (None, 0):
            raise


def _last_json(printed: str) -> Any:
    for line in reversed(printed.strip().splitlines()):
        try:
            return json.loads(line)
        except ValueError:
            continue
    return None


# What came back.


def read_value(value: Any, depth: int = 0) -> tuple[str, float | None]:
    """(shape, number) of what a reward function returned; the number is None for what is none."""
    if depth > 4:
        return "nested too deeply", None
    if value is None:
        return "it returned None", None
    if isinstance(value, bool):
        return "bool", float(value)
    if isinstance(value, (int, float)):
        try:
            return "number", float(value)
        except OverflowError:
            return "number", float("inf") if value > 0 else float("-inf")
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, (list, tuple)):
        return _read_items(cast("Any", value), depth)
    if isinstance(value, dict):
        return _read_fields(cast("dict[Any, Any]", value), depth)
    return _read_object(value, depth)


def _read_text(value: str) -> tuple[str, float | None]:
    if value in _LETTERS:
        return "letter", _LETTERS[value]
    try:
        return "text", float(value)
    except ValueError:
        return f"it returned the text {value[:80]!r}", None


def _read_items(value: Any, depth: int) -> tuple[str, float | None]:
    kind = type(value).__name__
    if not value or (kind == "list" and len(value) != 1):
        return f"it returned a {kind} of {len(value)} items for one completion", None
    shape, number = read_value(value[0], depth + 1)
    return (f"{kind} of {shape}" if number is not None else shape), number


def _read_fields(value: dict[Any, Any], depth: int) -> tuple[str, float | None]:
    names = [name for name in _KEYS if name in value]
    if not names:
        names = [key for key, item in value.items() if isinstance(item, (bool, int, float))]
        names = names if len(names) == 1 else []
    for name in names:
        shape, number = read_value(value[name], depth + 1)
        if number is not None:
            return f"dict of {shape}", number
    return f"it returned a dict with the keys {list(value)[:8]!r:.120}", None


def _read_object(value: Any, depth: int) -> tuple[str, float | None]:
    if isinstance(value, permissive.Anything):
        return f"it returned {value!r}, which is missing here", None
    kind = type(value).__name__
    for name in _ATTRIBUTES:
        inner = getattr(value, name, None)
        if inner is not None and not callable(inner):
            shape, number = read_value(inner, depth + 1)
            if number is not None:
                return f"{kind} of {shape}", number
    for name in ("item", "tolist"):
        method = getattr(value, name, None)
        if callable(method):
            try:
                inner = method()
            except Exception:
                continue
            shape, number = read_value(inner, depth + 1)
            if number is not None:
                return f"{kind} of {shape}", number
    return f"it returned a {kind}: {value!r:.100}", None


# Loading.


def _probe(target: dict[str, Any]) -> list[Any]:
    """Load in the first way that works: the way, what may be preloaded, and why others failed."""
    if not target["entry"]:
        return ["import", [], []]
    before = set(sys.modules)
    failures: list[str] = []
    for way in WAYS:
        missing: list[str] = []
        while len(missing) < _MOST_MISSING:
            how = f"{way}:{','.join(missing)}"
            try:
                _find(_load(target, how), target["entry"])
            except BaseException as error:
                name = _what_is_missing(error)
                own = target["module"].partition(".")[0]
                if way in ("stand-ins", "file") and name and name not in (own, *missing):
                    missing.append(name)
                    continue
                names, message = serve.describe(error)
                failures.append(f"{way}: {names[0]}: {message}"[:300])
                break
            return [how, _preloadable(before, target, way), failures]
    raise ImportError("; ".join(failures)[:1500])


def _what_is_missing(error: BaseException | None) -> str:
    """The top-level module whose absence is behind an error; empty for another cause."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name:
            return error.name.partition(".")[0]
        error = error.__cause__ or error.__context__
    return ""


def _preloadable(before: set[str], target: dict[str, Any], way: str) -> list[str]:
    """Top-level packages that were imported for real from site-packages."""
    if target["installed"] and way == "import":
        return [target["module"]]
    found: dict[str, None] = {}
    for name in sorted(set(sys.modules) - before):
        top = name.partition(".")[0]
        file = getattr(sys.modules.get(top), "__file__", None) or ""
        if "-packages/" in file and "permissive" not in file:
            found[top] = None
    return list(found)


def _load(target: dict[str, Any], how: str) -> types.ModuleType:
    import importlib

    way, _, names = how.partition(":")

    if target["root"] not in sys.path:
        sys.path.insert(0, target["root"])
    if HOME not in sys.path:
        sys.path.append(HOME)
    if way == "import":
        return importlib.import_module(target["module"])
    permissive.allow(names.split(",") if names else ())
    if way == "stand-ins":
        _forget(target)
        return importlib.import_module(target["module"])
    _forget(target)
    _bare_parents(target)
    with open(target["path"], encoding="utf-8") as file:
        source = file.read()
    if way == "slice":
        source = slice_of(source)
    module = types.ModuleType(target["module"])
    module.__file__ = target["path"]
    module.__package__ = target["module"].rpartition(".")[0]
    sys.modules[target["module"]] = module
    exec(compile(source, target["path"], "exec", dont_inherit=True), module.__dict__)
    return module


def _forget(target: dict[str, Any]) -> None:
    """Drop what an earlier try left half imported."""
    top = target["module"].partition(".")[0]
    for name in [name for name in sys.modules if name.partition(".")[0] == top]:
        del sys.modules[name]


def _bare_parents(target: dict[str, Any]) -> None:
    """Packages without their own code, so that siblings can be imported past them."""
    parts = target["module"].split(".")
    folder: str = target["root"]
    for count in range(1, len(parts)):
        folder = os.path.join(folder, parts[count - 1])
        package = types.ModuleType(".".join(parts[:count]))
        package.__path__ = [folder]
        sys.modules[package.__name__] = package


def slice_of(source: str) -> str:
    """Imports, constants and definitions of a module, each on its own: one that fails is left out,
    and what it would have imported is a stand-in."""
    import ast

    kept: list[ast.stmt] = []
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            kept.insert(0, node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [item.asname or item.name.partition(".")[0] for item in node.names]
            stand_ins = "\n".join(
                f"{name} = __import__('{permissive.__name__}', fromlist=['x']).Anything({name!r})"
                for name in names
                if name != "*"
            )
            kept.append(_guarded(node, ast.parse(stand_ins).body))
        elif isinstance(node, (*definitions, ast.If, ast.Try)):
            kept.append(_guarded(node, []))
    tree = ast.fix_missing_locations(ast.Module(kept, []))
    return ast.unparse(tree)


def _guarded(node: Any, otherwise: list[Any]) -> Any:
    import ast

    caught = ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, otherwise or [ast.Pass()])
    return ast.Try([node], [caught], [], [])


def _find(module: types.ModuleType, entry: str) -> Any:
    value: Any = module
    for name in entry.split("."):
        value = getattr(value, name)
    if isinstance(value, permissive.Anything):
        raise ImportError(f"{entry} could not be made without what is missing")
    return value


def _bind(module: types.ModuleType, target: dict[str, Any], plan: dict[str, Any]) -> Any:
    """What is called: a function, a method of an instance, or what a factory gives."""
    entry = target["entry"]
    owner, _, method = entry.rpartition(".")
    found = _find(module, entry)
    pool = plan.get("pool", {})
    if isinstance(found, type):
        owner, method = entry, _method_of(found)
    holder = _find(module, owner) if owner else None
    if isinstance(holder, type):
        if isinstance(_static(holder, method), (staticmethod, classmethod)):
            return getattr(holder, method)
        instance = made.instance(holder, pool)
        for name, args, kwargs in plan.get("before", []):
            _finished(made.call_with(instance, name, args, {**pool, **kwargs}))
        return getattr(instance, method)
    return made.from_factory(found, pool) if target.get("factory") else found


def _static(holder: type, name: str) -> Any:
    return next((kind.__dict__[name] for kind in holder.__mro__ if name in kind.__dict__), None)


def _method_of(kind: type) -> str:
    """The method of a class that gives the score."""
    for name in _METHODS:
        if _static(kind, name) is not None and name not in object.__dict__:
            return name
    raise TypeError(f"{kind.__name__} has none of the methods that give scores")
