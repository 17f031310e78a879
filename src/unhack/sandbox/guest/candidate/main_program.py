"""A Python program from its first line to its interpreter's end, as `python3 solution.py` runs it.

Covered: `__main__` and its file, the standard streams, `sys.argv`, every way to exit, uncaught
exceptions, threads that go on, exit handlers, finalizers, buffers that nobody flushed.
Not covered: options and variables of the command line (`-O`, `-W`, `PYTHONPATH`); modules are not
torn down one by one.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import re
import sys
from collections.abc import Callable
from typing import Any

from unhack.sandbox.guest.candidate import interpreter_setup, serve

_LEFT_TO_THE_END = re.compile(
    r"__del__|finally|__exit__|contextmanager|fdopen|TextIO|BufferedWriter|FileIO|finalize|"
    r"\bopen\s*\("
)
"""Names of objects that may print or write when their last reference goes; without these nothing
is lost by leaving objects to the kernel."""


def run(job: dict[str, Any], channel: Any) -> int:
    """Run `source` and report on the channel that it ended; the exit code."""
    source = job["source"]
    path = interpreter_setup.place()
    try:
        code = interpreter_setup.compile_file(source, path)
    except (SyntaxError, ValueError, RecursionError, OverflowError, MemoryError) as error:
        channel.send([None, "syntax", *serve.describe(error)])
        return 1
    interpreter_setup.write_file(source, path)
    interpreter_setup.adapt(source)
    exit_code = _execute(code, interpreter_setup.make_module("__main__", path, source).__dict__)
    channel.send([None, "done"])
    return _finish(exit_code, finalize=_LEFT_TO_THE_END.search(source) is not None)


def run_module(name: str) -> int:
    """Run a module as `python -m` does, in an interpreter that has it loaded already; the exit
    code. Options of the interpreter are not looked at."""
    import runpy  # no job but this needs it

    sys.stdin = _stream(0, "r")
    sys.stdout = _stream(1, "w")
    sys.stderr = _stream(2, "w", line_buffering=True)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    code = _caught(lambda: runpy.run_module(name, run_name="__main__"))
    return _finish(code, finalize=True)


def _stream(fd: int, mode: str, *, line_buffering: bool = False) -> io.TextIOWrapper:
    raw = io.FileIO(fd, mode)
    buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    return io.TextIOWrapper(
        buffer, encoding="utf-8", errors="surrogateescape", line_buffering=line_buffering
    )


def _execute(code: Any, names: dict[str, Any]) -> int:
    sys.argv[:] = ["solution.py"]
    return _caught(lambda: exec(code, names))


def _caught(body: Callable[[], object]) -> int:
    try:
        body()
    except SystemExit as error:
        return _exit_code(error)
    except BaseException as error:
        _show(error)
        return 1
    return 0


def _exit_code(error: SystemExit) -> int:
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return int(code) & 0xFF
    with contextlib.suppress(BaseException):
        print(code, file=sys.stderr)
    return 1


def _show(error: BaseException) -> None:
    """Report an uncaught exception as the interpreter does, its own hook included."""
    try:
        if error.__traceback__ is not None:
            # The first frames are of this module.
            error.__traceback__ = (
                error.__traceback__.tb_next and error.__traceback__.tb_next.tb_next
            )
        hook = sys.excepthook
        if hook is not sys.__excepthook__:
            hook(type(error), error, error.__traceback__)
            return
        import traceback  # 1 MB that only a failing program needs

        traceback.print_exception(error, limit=20)
    except BaseException:
        return  # standard error may be gone, or memory


def _finish(exit_code: int, *, finalize: bool) -> int:
    """End as the interpreter does: join threads, run exit handlers, let go of objects, flush."""
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    except BaseException as error:
        _show(error)
    exit_code = max(exit_code, _flush())
    if finalize:
        with contextlib.suppress(BaseException):
            gc.collect()  # puts what holds before what is held, a stream before its buffer
            sys.modules.pop("__main__", None)
            gc.collect()
        _flush()
    return exit_code


def _flush() -> int:
    """Flush the standard streams; 120, the interpreter's code for it, when that fails."""
    exit_code = 0
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name, None)
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except BaseException as error:
            exit_code = 120 if name == "stdout" else exit_code
            _show(error)
    own = sys.__stdout__
    if own is not None and own is not sys.stdout:
        with contextlib.suppress(BaseException):
            own.flush()
    return exit_code
