"""Imports of the solution by the script: a stub at its path, and a module that asks.

`import`, `importlib` and `runpy` execute the stub, which hands its namespace to `expose`. Every
further execution is one more execution of the solution's source in the candidate's process.

Covered: names are asked for one by one; a star import brings the names that the importing file
itself uses; setting and deleting names; `dir`. A name is asked for again once it is bound anew.
Not covered, and refused: the solution's source text, `vars`, starting processes, taking a builtin
function from the solution by a star import.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import builtins
import dis
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from unhack.sandbox.guest.candidate.script.shared_files import PLACE
from unhack.sandbox.guest.candidate.standard import TYPES, data_type
from unhack.sandbox.guest.judge.connection import CandidateConnection
from unhack.sandbox.guest.judge.names import caller_is_script, is_asked

_STUB = "import _unhack_seal\n_unhack_seal.expose({name!r}, globals())\n"
_PROCESS_EVENTS = {
    "subprocess.Popen",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "os.exec",
}
_STARS = ("IMPORT_STAR", "CALL_INTRINSIC_1")
_OWN = frozenset(
    (  # noqa: SIM905
        "__name__ __doc__ __package__ __loader__ __spec__ __path__ __file__ __cached__ __class__ "
        "__dict__ __builtins__ __warningregistry__ __seal__ __number__ __getattr__"
    ).split()
)
"""Names of a module that the import system sets and reads here; all others are the candidate's."""
_IMPORTERS = ("<frozen importlib", "<frozen runpy", "<frozen zipimport")
_TOOLS = ("/runpy.py", "/importlib/util.py", "/importlib/__init__.py", "/unittest/mock.py")


def stub(name: str) -> str:
    """The text at the path of module `name`."""
    return _STUB.format(name=name)


_space_of: Any = vars(types.ModuleType)["__dict__"].__get__


class SealedModule(types.ModuleType):
    """A module of the solution, seen by the script."""

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        space = _space_of(self)
        if caller_is_script(1) or _is_finder(sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]
            raise space["__seal__"].violate("the verifier reads all names of the solution")
        return space

    @property
    def __doc__(self) -> Any:  # type: ignore[override]
        return self.__seal__.ask("get", self.__number__, "__doc__")

    def __dir__(self) -> Any:
        return self.__seal__.ask("dir", self.__number__)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OWN:
            return super().__setattr__(name, value)
        if isinstance(value, types.ModuleType) and _is_binding(sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]
            if type(value) is not SealedModule:  # of the judge's own folder
                _space_of(self)[name] = value
            return None  # an import of a submodule here; the candidate's own has bound it there
        self.__seal__.ask("set", self.__number__, name, args=(value,))
        _space_of(self).pop(name, None)

    def __delattr__(self, name: str) -> None:
        self.__seal__.ask("delete", self.__number__, name)
        _space_of(self).pop(name, None)


def _is_finder(frame: types.FrameType) -> bool:
    return frame.f_globals.get("__name__") in ("doctest", "inspect")


def _is_binding(frame: types.FrameType) -> bool:
    """True for the import system, when it makes a module an attribute of its package."""
    return frame.f_code.co_filename.startswith("<frozen importlib")


class Imports:
    """The stubs of one judge."""

    def __init__(self, seal: CandidateConnection, home: str) -> None:
        self.seal = seal
        self._spaces: dict[int, dict[str, Any]] = {}
        """Number of a module of the candidate -> the namespace that shows it."""
        self._fetched: set[tuple[int, str]] = set()
        """Names of the candidate that stand in a namespace here; no others can be stale."""
        self._first = dict(seal.module_numbers)
        self._home = home
        self._paths = {os.path.join(home, f"{name}.py") for name in seal.modules}

    def install(self) -> None:
        """Stand where imports find the solution, and watch for its text."""
        module = types.ModuleType("_unhack_seal")
        module.expose = self.expose  # type: ignore[attr-defined]
        sys.modules["_unhack_seal"] = module
        sys.addaudithook(self._audit)

    def expose(self, name: str, space: dict[str, Any]) -> None:
        """Make a stub's namespace show the candidate's module."""
        seal = self.seal
        if not seal.loaded:
            raise ImportError(f"the candidate's {name} could not be loaded")
        number = next((key for key, item in self._spaces.items() if item is space), None)
        if number is not None:  # a reload
            for key in space.keys() - _OWN:
                del space[key]
            seal.ask("load", number, args=(True,))
        else:
            number = self._first.pop(name, None)
            if number is None:
                number = seal.ask("load", seal.module_numbers[name])
                if type(number) is not int:
                    raise seal.violate("a module without a number")
            else:
                seal.process_state.deliver(seal.process_state.earlier)
        self._answer_for(number, space)
        space.pop("_unhack_seal", None)
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        module = _module_of(space, frame)
        if module is not None:
            module.__class__ = SealedModule
            seal.classes.add_module(module, number)
        else:
            self._fill(number, space, frame)

    def show(self, module: types.ModuleType, number: int) -> None:
        """Make an empty module here show module `number` of the candidate."""
        self._answer_for(number, _space_of(module))
        module.__class__ = SealedModule
        self.seal.classes.add_module(module, number)

    def _answer_for(self, number: int, space: dict[str, Any]) -> None:
        """Let a namespace ask for the names that it lacks."""
        self._spaces[number] = space
        self.seal.classes.loaded.append(number)
        space["__seal__"], space["__number__"] = self.seal, number

        def attribute(wanted: str) -> Any:
            return self._attribute(number, space, wanted)

        space["__getattr__"] = attribute

    def _attribute(self, number: int, space: dict[str, Any], name: str) -> Any:
        if name == "__all__":
            return self._starred(number, sys._getframe(2))  # pyright: ignore[reportPrivateUsage]
        if not is_asked(name, 2) or (name in _OWN and not caller_is_script(2)):
            raise AttributeError(f"module {space['__name__']!r} has no attribute {name!r}")
        return self._fetch(number, space, name)

    def _fetch(self, number: int, space: dict[str, Any], name: str) -> Any:
        value = self.seal.ask("get", number, name)
        if self.seal.is_bound:
            space[name] = value
            self._fetched.add((number, name))
        return value

    def forget_stale(self, stale: list[tuple[int, str]]) -> None:
        """Ask again, the next time, for names that the candidate has bound anew."""
        for key in self._fetched.intersection(stale):
            self._fetched.discard(key)
            self._spaces[key[0]].pop(key[1], None)

    def _starred(self, number: int, frame: types.FrameType) -> list[str]:
        """The names of a star import: those that the importing file uses and does not have."""
        code = frame.f_code
        if dis.opname[code.co_code[frame.f_lasti]] not in _STARS:
            return self.seal.ask("get", number, "__all__")
        free = set(_names_used(code)) - frame.f_locals.keys() - frame.f_globals.keys()
        builtin = {name for name in free if hasattr(builtins, name)} - _names_bound(code)
        found, clashes = self.seal.ask(
            "names", number, "*", args=(sorted(free - vars(builtins).keys()), sorted(builtin))
        )
        clash = sorted(builtin.intersection(clashes))
        if clash:
            raise self.seal.violate(
                f"a star import of a solution that defines {', '.join(clash)}, which the verifier"
                " uses as a builtin; import the solution's names one by one"
            )
        return sorted((free - vars(builtins).keys()).intersection(found))

    def _fill(self, number: int, space: dict[str, Any], frame: types.FrameType) -> None:
        """Names for a namespace without a module (`runpy`): those that the calling file spells."""
        caller: types.FrameType | None = frame
        while caller is not None and _is_tool(caller):
            caller = caller.f_back
        spelled: set[str] = set()
        codes = [caller.f_code] if caller is not None else []
        if caller is not None:
            for item in caller.f_globals.values():
                codes += [item.__code__] if type(item) is types.FunctionType else []
        for code in codes:
            for inner in _codes(code):
                spelled.update(inner.co_names)
                spelled.update(item for item in inner.co_consts if type(item) is str)
        wanted = sorted(name for name in spelled - space.keys() if name.isidentifier())
        found, _ = self.seal.ask("names", number, args=(wanted, []))
        for name in set(wanted).intersection(found):
            self._fetch(number, space, name)

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event in _PROCESS_EVENTS:
            raise self.seal.violate("the verifier starts a process")
        if event == "pickle.find_class" and not _may_unpickle(*args):
            raise self.seal.violate(f"the verifier unpickles {args[1]!r:.60} of {args[0]!r:.60}")
        if event == "open" and isinstance(args[0], (str, bytes)):
            path = os.path.normpath(os.path.join(os.getcwd(), os.fsdecode(args[0])))
            own = path.startswith(f"{self._home}/") and not path.startswith(f"{PLACE}/")
            if own and self.seal.script.is_called and not self.seal.is_aside:
                opener = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
                if not _is_below(opener, 8, _imports) and not _is_below(opener, 12, _shows):
                    raise self.seal.violate("the solution has the verifier read its own files")
            if path in self._paths and not self.seal.is_aside:
                opener = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
                if _is_below(opener, 8, _imports) or _is_below(opener, 12, _shows):
                    return
                raise self.seal.violate("the verifier reads the solution's source text")


def _may_unpickle(module: str, name: str) -> bool:
    """True for classes of plain data, of the standard library and of the script."""
    if data_type(f"{module}.{name}") is not None or (module == "builtins" and name in TYPES):
        return True
    found = sys.modules.get(module)
    file = getattr(found, "__file__", None) or ""
    own = type(found) is types.ModuleType and file.startswith("/scratch/work/")
    return own and isinstance(getattr(found, name.partition(".")[0], None), type)


def _is_tool(frame: types.FrameType) -> bool:
    name = frame.f_code.co_filename
    return name.startswith(_IMPORTERS) or name.endswith(_TOOLS) or name.endswith("/solution.py")


def _module_of(space: dict[str, Any], frame: types.FrameType | None) -> Any:
    """The module whose namespace is being filled, in the frames of the import system."""
    for _ in range(12):
        if frame is None:
            return None
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            module = frame.f_locals.get("module")
            known = type(module) in (types.ModuleType, SealedModule)
            if known and _space_of(module) is space:
                return module
        frame = frame.f_back
    return None


def _is_below(frame: types.FrameType | None, most: int, runs: Callable[[str], bool]) -> bool:
    """True when one of the innermost frames, from `frame` on, is of a file that `runs` names."""
    for _ in range(most):
        if frame is None:
            return False
        if runs(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False


def _imports(file: str) -> bool:
    """True for a file of the import system, or of runpy."""
    return file.startswith(_IMPORTERS) or file.endswith(_TOOLS[:2])


def _shows(file: str) -> bool:
    """True for a file that writes tracebacks, whose innermost frame is the stub's."""
    return file.endswith("/traceback.py") or "/_pytest/_code/" in file


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for item in code.co_consts:
        if type(item) is types.CodeType:
            yield from _codes(item)


def _names_used(code: types.CodeType) -> Iterator[str]:
    """Global names that a file reads."""
    for inner in _codes(code):
        for step in dis.get_instructions(inner):
            if step.opname in ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"):
                yield step.argval


def _names_bound(code: types.CodeType) -> set[str]:
    """Global names that a file binds."""
    found = {s.argval for s in dis.get_instructions(code) if s.opname == "STORE_NAME"}
    for inner in _codes(code):
        found |= {s.argval for s in dis.get_instructions(inner) if s.opname == "STORE_GLOBAL"}
    return found
