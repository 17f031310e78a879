"""Set up for a program what plain CPython has, and a fork without `site` lacks.

Covered: `exit`, `quit` and the other names of `site`; a module with a file, a loader and its own
source, for `inspect` and for tracebacks; the device names of the standard streams, which stand for
descriptors 0 to 2; stacks of threads larger than the memory limit has room for.
Not covered: /proc other than the descriptors, `sys.flags`, and what `site` does to the import path.

What costs something, or puts a function in a builtin's place, is done only for a source that names
it: every other program finds the interpreter as it is.
"""

from __future__ import annotations

import _sitebuiltins  # a frozen module of the interpreter, so that no file is read
import _thread
import builtins
import contextlib
import io
import os
import re
import sys
import types
from collections.abc import Callable
from typing import Any

from unhack.sandbox.guest.candidate import program, semaphores

_SMALLEST_STACK = 1 << 20


def complete() -> None:
    """Make this interpreter what a program expects, once: the builtins of `site`, its streams."""
    if not hasattr(builtins, "exit"):
        _add_site_builtins()
        _make_output_streams()


def _add_site_builtins() -> None:
    names: Any = builtins
    kinds: Any = _sitebuiltins
    names.quit = kinds.Quitter("quit", "Ctrl-D (i.e. EOF)")
    names.exit = kinds.Quitter("exit", "Ctrl-D (i.e. EOF)")
    names.copyright = kinds._Printer("copyright", sys.copyright)
    names.credits = kinds._Printer("credits", "See www.python.org.")
    names.license = kinds._Printer("license", "See https://www.python.org/psf/license/")
    names.help = kinds._Helper()


def _make_output_streams() -> None:
    """Make standard output and error anew, on a pipe: the interpreter's own were made on /dev/null,
    and remember that one can seek there."""
    ends = os.pipe()
    for name, fd in (("stdout", 1), ("stderr", 2)):
        kept = os.dup(fd)
        os.dup2(ends[1], fd)
        buffer: Any = open(fd, "wb", closefd=False)  # noqa: SIM115
        buffer.raw.name = f"<{name}>"
        errors = "surrogateescape" if fd == 1 else "backslashreplace"
        stream: Any = io.TextIOWrapper(
            buffer, encoding="utf-8", errors=errors, newline="\n", line_buffering=fd == 2
        )
        stream.mode = "w"
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
        os.dup2(kept, fd)
        os.close(kept)
    for end in ends:
        os.close(end)


class SourceLoader:
    """The loader of a module whose source is at hand, for `inspect`, `linecache` and `pkgutil`."""

    def __init__(self, name: str, path: str, source: str) -> None:
        self.name = name
        self.path = path
        self._source = source

    def get_source(self, name: str) -> str:
        """The source, whatever the name: the loader has one module."""
        return self._source

    def get_filename(self, name: str) -> str:
        """The path that `__file__` names."""
        return self.path

    def get_data(self, path: str) -> bytes:
        """The bytes of a file, for `pkgutil.get_data`. Raises OSError."""
        with open(path, "rb") as file:
            return file.read()

    def is_package(self, name: str) -> bool:
        """False."""
        return False


def make_module(name: str, path: str, source: str) -> types.ModuleType:
    """An empty module with the attributes that CPython gives one that it loads from a file."""
    module = types.ModuleType(name)
    module.__dict__.update(
        __builtins__=builtins if name == "__main__" else builtins.__dict__,
        __file__=path,
        __cached__=None,
        __loader__=SourceLoader(name, path, source),
    )
    if name == "__main__":
        module.__annotations__ = {}
    else:
        module.__package__ = ""
    sys.modules[name] = module
    return module


def place() -> str:
    """The path of the completion's file: in the private directory, or at the root where there is
    none; only in the first is a file written there."""
    return os.path.join(os.getcwd(), "solution.py")


def write_file(source: str, path: str) -> None:
    """Put the completion's file into its private directory, and that on the import path; nothing
    where it has none. Raises OSError."""
    folder = os.path.dirname(path)
    if folder == program.SCRATCH:
        with open(path, "wb") as file:
            file.write(source.encode("utf-8", "surrogatepass"))
        sys.path.insert(0, folder)


def compile_file(source: str, path: str) -> types.CodeType:
    """The code of a file with this text; a byte order mark is no part of it.

    Raises SyntaxError, ValueError, RecursionError, OverflowError, MemoryError.
    """
    return compile(source.removeprefix("\ufeff"), path, "exec", dont_inherit=True)


def adapt(source: str) -> None:
    """Put in place what this source names and the sandbox lacks."""
    if "/dev/" in source or "/proc/self/fd" in source:
        _name_the_streams()
    if "stack_size" in source:
        _fit_stacks()
    if "multiprocessing" in source:
        semaphores.install()


_STREAM = re.compile(r"/(?:dev|proc/self)/(?:std(in|out|err)|fd/([012]))")
_NUMBERS = {"in": 0, "out": 1, "err": 2}


def _stream(path: Any) -> int | None:
    """The descriptor that a path stands for, from its start where it can be read, or None."""
    if type(path) is bytes:
        path = os.fsdecode(path)
    elif hasattr(path, "__fspath__"):
        path = path.__fspath__()
    match = _STREAM.fullmatch(path) if type(path) is str else None
    if match is None:
        return None
    number = _NUMBERS[match[1]] if match[1] else int(match[2])
    fd = os.dup(number)
    if number == 0:
        with contextlib.suppress(OSError):  # a pipe goes on where it is
            os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _name_the_streams() -> None:
    """Let `open` and `os.open` take /dev/stdin and its kin; there is no /proc for them to lead to.

    A file that is opened by such a name is read from its start, as a redirected one is.
    """
    real_open, real_os_open, real_exists = io.open, os.open, os.path.exists

    def open_(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        fd = None if kwargs.get("opener") else _stream(file)
        return real_open(file if fd is None else fd, mode, *args, **kwargs)

    def os_open(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        fd = _stream(path)
        return real_os_open(path, flags, *args, **kwargs) if fd is None else fd

    def exists(path: Any) -> bool:
        name = path.__fspath__() if hasattr(path, "__fspath__") else path
        return (type(name) is str and _STREAM.fullmatch(name) is not None) or real_exists(path)

    open_.__name__ = open_.__qualname__ = "open"
    os_open.__name__ = os_open.__qualname__ = "open"
    exists.__name__ = exists.__qualname__ = "exists"
    builtins.open = io.open = open_  # type: ignore[assignment]
    os.open, os.path.exists = os_open, exists


def _fit_stacks() -> None:
    """Let threads start whose stacks would not fit: the limit is on address space, which a stack
    takes whole, and the usual 512 MiB of it are asked for and not used."""
    import resource  # with `threading`, what only such a program needs
    import threading

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return
    real_size: Callable[..., int] = _thread.stack_size
    wanted = [real_size()]
    largest = max(limit // 2 & -4096, _SMALLEST_STACK)

    def stack_size(size: int = 0) -> int:
        before = wanted[0]
        if size:
            real_size(min(size, largest) if size > _SMALLEST_STACK else size)
        else:
            real_size(0)
        wanted[0] = size
        return before

    def starting(real: Callable[..., Any]) -> Callable[..., Any]:
        def start(*args: Any, **kwargs: Any) -> Any:
            size = min(wanted[0], largest)
            while True:
                try:
                    return real(*args, **kwargs)
                except RuntimeError:
                    if size <= _SMALLEST_STACK:
                        raise
                    size //= 2
                    real_size(size)

        return start

    names: Any = threading
    names.stack_size = _thread.stack_size = stack_size
    for module, name in (
        (_thread, "start_new_thread"),
        (_thread, "start_new"),
        (names, "_start_new_thread"),
        (names, "_start_joinable_thread"),
    ):
        if hasattr(module, name):
            setattr(module, name, starting(getattr(module, name)))
