"""Requests that the judge may make of the candidate, and how they are met.

    get, has, set, delete  an attribute of an object, a class or a module
    call                   an object with arguments
    special                a special method of an object's class
    step                   `__next__`, `send`, `throw`, `close`: the end is `{"stop": value}`
    item, iter, length, contains, isinstance, issubclass    of a class, as its metaclass has it
    names, load            names that a module binds or exports; a module executed once more
    import                 a module of a tree of files, by its name
    copy, deepcopy, plain, signature, dir

Covered: whatever the solution raises is an answer; what it prints and warns of goes along.
Not covered: output that does not go through `sys.stdout` and `sys.stderr`.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import copy
import io
import os
import sys
import types
from collections.abc import Callable, Collection
from typing import Any

from unhack.core import plain
from unhack.sandbox.guest.candidate import interpreter_setup, trees
from unhack.sandbox.guest.candidate.objects import (
    Objects,
    kept_places,
    plain_value,
)
from unhack.sandbox.guest.candidate.script.exchange import (
    Exchange,
    SessionReader,
    SessionWriter,
)
from unhack.sandbox.guest.candidate.script.outputs import Outputs
from unhack.sandbox.guest.candidate.script.shared_files import SharedFiles
from unhack.sandbox.guest.candidate.script.stubs import ScriptStandIns, make_class
from unhack.sandbox.guest.candidate.standard import (
    SharedContainers,
    UnsharableError,
    is_unchanged,
    snapshot,
)

_PLAIN = frozenset({bool, str, type(None)})
_LARGE = 1 << 1023


class CandidateSession:
    """Everything that lasts from request to request."""

    def __init__(self, sources: dict[str, str], packages: Collection[str] = ()) -> None:
        """`sources`: module -> text; `packages`: top names of a tree of files (`trees`)."""
        self.sources = sources
        self.shared = SharedContainers()
        self.objects = Objects({*sources, *packages}, packages)
        self.outputs = Outputs()
        self.stand_ins = ScriptStandIns(self._ask_script)
        self.files = SharedFiles(is_judge=False)
        self.environ = _Environment()
        self.exchange: Exchange | None = None
        self._stdin = sys.stdin
        self.bound: dict[tuple[int, str], Any] = {}
        """Values fetched from modules, to tell when a name is bound anew."""
        self.is_bound = False

    def number_modules(self, modules: dict[str, types.ModuleType]) -> dict[str, int]:
        """Module name -> its number."""
        return {name: self.objects.number(module) for name, module in modules.items()}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what a request asks."""
        try:
            self.take_state(request)
        except OSError as error:
            return {"refuse": f"the solution cannot be given a temporary file: {error}"}
        reader = SessionReader(self.shared, self.objects, self.stand_ins)
        self.shared.apply(reader, request.get("changed", ()))
        for number in request.get("drop", ()):
            self.shared.drop(number)
        for number in request.get("forget", ()):
            self.objects.forget(number)
        self.is_bound = False
        has_stdin = "stdin" in request
        if has_stdin:
            sys.stdin = io.StringIO(request["stdin"])
        elif "stdin_of" in request:
            sys.stdin = reader.decode(request["stdin_of"])
        outcome, result, received, before = self._do(request, reader)
        if outcome == "ok" and not received and not self.shared.containers:
            value = result[0]
            if type(value) in _PLAIN or (type(value) is int and -_LARGE < value < _LARGE):
                # The usual answer: nothing is shared, and nothing has to be looked for.
                return self._finish({"ok": value}, has_stdin=has_stdin)
            del value  # references to a container are counted
        places = {id(item): place for place, item in enumerate(received)}
        writer = SessionWriter(self.shared, self.objects, places, stand_ins=self.stand_ins)
        answer: dict[str, Any] = {}
        try:
            changed = [
                [place, writer.content_held(item)]
                for place, item in enumerate(received)
                if not is_unchanged(item, before[place])
            ]
            others = self.shared.changes(writer)
            if outcome == "raise":
                answer[outcome] = writer.error(result.pop())
            else:
                answer[outcome] = writer.encode_all(result)[0]
        except (UnsharableError, plain.PlainDataError, RecursionError) as error:
            answer = {"refuse": f"the solution gives {error}"}
            writer = SessionWriter(self.shared, self.objects, {}, stand_ins=self.stand_ins)
            changed, others = [], []
        del before, result
        answer.update(self._share(received, writer))
        extras = {"args": changed, "changed": others, "classes": writer.classes}
        answer.update({key: value for key, value in extras.items() if value})
        self.shared.settle()
        return self._finish(answer, has_stdin=has_stdin)

    def _ask_script(
        self, what: str, number: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if self.exchange is None:
            raise RuntimeError("there is no script to be asked")
        was_bound, self.is_bound = self.is_bound, False
        try:
            return self.exchange.ask(what, number, name, args, kwargs)
        finally:
            self.is_bound = was_bound

    def extras(self) -> dict[str, Any]:
        """The state that goes along with a request of the solution."""
        found = {"files": self.files.changes(), "env": self.environ.changes()}
        return {**self.outputs.take(), **{key: value for key, value in found.items() if value}}

    def take_state(self, message: dict[str, Any]) -> None:
        """Take over the judge's environment and temporary files."""
        self.environ.update(message.get("env", {}))
        if "levels" in message:
            self.outputs.follow(message["levels"])
        if "files" in message or "cwd" in message:
            if not self.files.is_used:
                self.files.install()
            self.files.apply(message.get("files", []))
        if "cwd" in message:
            with contextlib.suppress(OSError):
                os.chdir(message["cwd"])

    def _finish(self, answer: dict[str, Any], *, has_stdin: bool) -> dict[str, Any]:
        """An answer with what goes along with any."""
        stale = [
            key
            for key, value in self.bound.items()
            if self.objects.objects[key[0]].__dict__.get(key[1], self) is not value
        ]
        for key in stale:
            del self.bound[key]
        if stale:
            answer["stale"] = list(map(list, stale))
        if self.is_bound:
            answer["bound"] = True
        if has_stdin:
            answer["read"] = sys.stdin.tell()
        sys.stdin = self._stdin
        try:
            answer.update(self.extras())
        except UnsharableError as error:
            return {"refuse": f"the solution gives {error}"}
        return answer

    def _do(
        self, request: dict[str, Any], reader: SessionReader
    ) -> tuple[str, list[Any], list[Any], list[Any]]:
        """The outcome, the value in a list of its own, the containers of the request and how
        they were before."""
        args = [reader.decode(item) for item in request.get("args", ())]
        kwargs = {key: reader.decode(item) for key, item in request.get("kwargs", {}).items()}
        before = [snapshot(item) for item in reader.order]
        what, number, name = request["do"]
        try:
            target: Any = None if what == "import" else self.objects.objects[number]
            if what == "call":
                value = [target(*args, **kwargs)]
            elif what == "step":
                value = [_step(target, name, args)]
            else:
                value = [_OPERATIONS[what](self, target, name, args)]
            outcome = "ok"
        except _EndError as end:
            outcome, value = "stop", [end.value]
        except UnsharableError as error:
            outcome, value = "refuse", [f"the solution gives {error}"]
        except BaseException as error:
            outcome, value = "raise", [error]
            error.__traceback__ = None
        return outcome, value, reader.order, before

    def _share(self, received: list[Any], writer: SessionWriter) -> dict[str, Any]:
        """Number the containers that the solution still holds, of the request and of the reply."""
        found: dict[str, Any] = {}
        held = [[place, self._add(writer.order[place])] for place in writer.held]
        if held:
            found["held"] = held
        writer.order.clear()
        if received:
            kept = kept_places(received)
            numbers = [[place, self._add(received[place])] for place in kept]
            if numbers:
                found["kept"] = numbers
        return found

    def _add(self, container: Any) -> int:
        self.objects.count += 1
        self.shared.add(self.objects.count, container)
        return self.objects.count


class _EndError(Exception):
    """An iterator has ended."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


def _step(target: Any, name: str, args: list[Any]) -> Any:
    try:
        return getattr(target, name)(*args)
    except StopIteration as end:
        raise _EndError(end.value) from None


class _Environment:
    """The environment, as both sides knew it at the last message."""

    def __init__(self) -> None:
        self._known = dict(_encoded())

    def update(self, changed: dict[str, str | None]) -> None:
        """Take over what the judge changed."""
        for name, value in changed.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if changed:
            self._known = dict(_encoded())

    def changes(self) -> dict[str, str | None]:
        """The changes of the solution: name -> value, None for one that is gone."""
        now = _encoded()
        if now == self._known:
            return {}
        then, self._known = self._known, dict(now)
        names = [name for name in {**then, **now} if then.get(name) != now.get(name)]
        return {os.fsdecode(name): os.environ.get(os.fsdecode(name)) for name in names}


def _encoded() -> dict[bytes, bytes]:
    return vars(os.environ)["_data"]  # as a mapping it is slow to compare


def _get(session: CandidateSession, target: Any, name: str, args: list[Any]) -> Any:
    value = getattr(target, name)
    if type(target) is types.ModuleType and target.__dict__.get(name, session) is value:
        number = session.objects.number(target)
        if target.__name__.partition(".")[0] in session.objects.modules:
            session.bound[number, name] = value
            session.is_bound = True
    return value


def _set(session: CandidateSession, target: Any, name: str, args: list[Any]) -> None:
    setattr(target, name, *args)


def _delete(session: CandidateSession, target: Any, name: str, args: list[Any]) -> None:
    delattr(target, name)


def _special(session: CandidateSession, target: Any, name: str, args: list[Any]) -> Any:
    if name == "__bytes__":
        return bytes(target)  # or of the buffer of an object of C code
    return getattr(type(target), name)(target, *args)


def _derive(session: CandidateSession, target: Any, name: str, args: list[Any]) -> type:
    """A class that the script derives from the solution's."""
    bases, space, more = args
    return make_class(name, bases, space, more)


def _super(session: CandidateSession, target: Any, name: str, args: list[Any]) -> Any:
    """The attribute that `super()` has in a method of a class of the script."""
    return getattr(super(target, args[0]), name)


def _names(session: CandidateSession, target: Any, name: str, args: list[Any]) -> list[str]:
    """Of each of two lists of names, those that a module binds, or exports where `name` is `*`."""
    found: Any = target.__dict__
    if name:
        found = found.get("__all__", [item for item in found if item[:1] != "_"])
    return [[item for item in wanted if item in found] for wanted in args]  # type: ignore[list-item]


def _import(session: CandidateSession, target: Any, name: str, args: list[Any]) -> Any:
    """A number, a name, and True for a package; None where there is no such module."""
    module = trees.load(name)
    if module is None:
        return None
    return [session.objects.number(module), *trees.described(module)]


def _load(session: CandidateSession, target: Any, name: str, args: list[Any]) -> int:
    """Execute a module once more: in place when there are arguments, else as another one."""
    if trees.is_module(target, session.objects.packages):
        from importlib import reload  # only a tree of files is imported like this

        return session.objects.number(reload(target))
    module = target if args else types.ModuleType(target.__name__)
    source = session.sources[target.__name__]
    module.__dict__.setdefault("__file__", sys.modules[target.__name__].__dict__.get("__file__"))
    exec(interpreter_setup.compile_file(source, "<completion>"), module.__dict__)
    return session.objects.number(module)


def _signature(session: CandidateSession, target: Any, name: str, args: list[Any]) -> list[Any]:
    import inspect  # heavy, and seldom asked for

    signature = inspect.signature(target)
    parameters = list(signature.parameters.values())
    annotations = [signature.return_annotation, *(item.annotation for item in parameters)]
    if not all(item is None or isinstance(item, (str, type)) for item in annotations):
        raise UnsharableError("a signature whose annotations are no plain types")

    def part(value: Any) -> list[Any]:
        return [] if value is inspect.Parameter.empty else [value]

    described = [
        [item.name, int(item.kind), part(item.default), part(item.annotation)]
        for item in parameters
    ]
    return [described, part(signature.return_annotation)]


_OPERATIONS: dict[str, Callable[[CandidateSession, Any, str, list[Any]], Any]] = {
    "get": _get,
    "set": _set,
    "delete": _delete,
    "special": _special,
    "names": _names,
    "derive": _derive,
    "super": _super,
    "load": _load,
    "import": _import,
    "signature": _signature,
    "item": lambda session, target, name, args: target[args[0]],
    "iter": lambda session, target, name, args: iter(target),
    "length": lambda session, target, name, args: len(target),
    "contains": lambda session, target, name, args: args[0] in target,
    "isinstance": lambda session, target, name, args: isinstance(args[0], target),
    "issubclass": lambda session, target, name, args: issubclass(args[0], target),
    "has": lambda session, target, name, args: hasattr(target, name),
    "copy": lambda session, target, name, args: copy.copy(target),
    "deepcopy": lambda session, target, name, args: copy.deepcopy(target),
    "plain": lambda session, target, name, args: plain_value(target),
    "dir": lambda session, target, name, args: dir(target),
}
