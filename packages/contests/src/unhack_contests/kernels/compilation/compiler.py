"""C into a library: by the judge, with its own flags, in the sandbox.

Covered: a cap on the compiler's time and on the library's size, calls that no kernel needs, system
call instructions.
Not covered: what the code computes.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import tempfile
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

from unhack.tournament.kit import (
    Ending,
    Flag,
    Limits,
    Outcome,
    SandboxError,
    SandboxUnavailableError,
    run_one,
    shared_pool,
)
from unhack.verifiers import jobs
from unhack_contests.kernels.compilation import symbols
from unhack_contests.kernels.compilation.symbols import harmless
from unhack_contests.submission import RefusedError

FLAGS = (
    "-std=gnu11", "-O3", "-march=native", "-fPIC", "-shared", "-fopenmp", "-pthread",
    "-Wl,-z,noexecstack", "-Wl,-z,now",
)  # fmt: skip
_SCRIPT = "exports.map"
_PRUNING = (
    "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections",
    f"-Wl,--version-script={_SCRIPT}",
)  # fmt: skip
COMPILER_S = 20.0
MAX_LIBRARY_BYTES = 1 << 20
_TRAPS = ("syscall", "sysenter", "int    $0x80")
_SOURCES = Path(__file__).parent.parent / "sources"


@dataclass(frozen=True, slots=True)
class Library:
    """A compiled submission."""

    code: bytes
    exports: frozenset[str]


def source(kind: str, name: str) -> str:
    """A C file of this package: `reference`, `tuned` or `measuring`."""
    return (_SOURCES / kind / f"{name}.c").read_text()


def python_source(name: str) -> str:
    """The NumPy function of a problem."""
    return (_SOURCES / "numpy" / f"{name}.txt").read_text()


def has_source(kind: str, name: str) -> bool:
    """Tell whether there is such a file."""
    return (_SOURCES / kind / f"{name}.c").exists()


@functools.cache
def compile_trusted(text: str) -> bytes:
    """The library of a source of this package."""
    return _compile({"solution.c": text.encode()})


def build(files: Mapping[str, bytes], *, entries: tuple[str, ...] = ()) -> Library:
    """Compile `solution.c` with the headers beside it. Raises RefusedError.

    Where a call is objected to, the library is linked once more with nothing but what `entries`
    reach: helpers that nobody calls (a self-test) are not judged, and are not there.
    """
    code, found = _read(files)
    allowed = harmless(files, found.imports)
    words, flags = symbols.objections(found, allowed=allowed)
    if words and entries:
        pruned, left = _read(files, entries)
        again = symbols.objections(left, allowed=allowed)
        own = symbols.objections(symbols.Symbols(frozenset(), found.exports, may_trap=False))
        if not again[0] and not own[0]:
            code, found, words, flags = pruned, left, [], []
    if found.may_trap and (trap := _trap(code)):
        words.append(f"it makes system calls itself ({trap})")
        flags.append(
            Flag("reaches_out", f"the compiled code holds the instruction {trap}", "judge")
        )
    if words:
        raise RefusedError("; ".join(words), *flags)
    return Library(code, found.exports)


def _read(
    files: Mapping[str, bytes], entries: tuple[str, ...] = ()
) -> tuple[bytes, symbols.Symbols]:
    code = _compile(files, entries)
    if len(code) > MAX_LIBRARY_BYTES:
        raise RefusedError(f"the library has {len(code)} bytes, more than {MAX_LIBRARY_BYTES}")
    try:
        return code, symbols.read(code)
    except ValueError as error:
        raise RefusedError(str(error)) from None


@contextlib.contextmanager
def stage(files: Mapping[str, bytes]) -> Generator[Path]:
    """A folder with these files that a sealed process can be shown."""
    with tempfile.TemporaryDirectory(prefix="unhack-kernels-") as folder:
        Path(folder).chmod(0o755)  # the sealed process has a uid of its own
        for name, data in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        yield Path(folder)


def _limits() -> Limits:
    # Wall time to spare: a host that is busy must not decide what compiles.
    return Limits(
        wall_s=3 * COMPILER_S, cpu_s=COMPILER_S, memory_bytes=2 << 30, processes=64,
        file_bytes=64 << 20, disk_bytes=256 << 20, soft_slice_s=3 * COMPILER_S,
    )  # fmt: skip


def _run(argv: list[str], files: Mapping[str, bytes], collect: tuple[str, ...] = ()) -> Outcome:
    packed = {name: (data, 0o644) for name, data in files.items()}
    job = jobs.program(argv, limits=_limits(), files=packed, collect=collect)
    outcome = run_one(shared_pool(), job)
    if outcome.ending is Ending.REFUSED:
        raise SandboxUnavailableError(outcome.error)
    if outcome.ending is Ending.BROKEN:
        raise SandboxError(outcome.error)
    return outcome


def _compile(files: Mapping[str, bytes], entries: tuple[str, ...] = ()) -> bytes:
    """The library; with `entries`, only what they reach."""
    argv = ["gcc", *FLAGS, "-o", "kernel.so", "solution.c", "-lm"]
    if entries:
        names = "; ".join(sorted(entries))
        files = {**files, _SCRIPT: f"{{ global: {names}; local: *; }};\n".encode()}
        argv[1:1] = _PRUNING
    outcome = _run(argv, files, ("kernel.so",))
    if outcome.limit:
        raise RefusedError(f"the compiler ran into its {outcome.limit} limit")
    lines = jobs.result_lines(outcome.result)
    exits = [line[2] for line in lines if line[1] == "exit"]
    made = [line[3] for line in lines if line[1] == "file"]
    if exits != [0] or len(made) != 1:
        said = outcome.stderr.decode(errors="replace").strip()
        raise RefusedError(f"it does not compile: {said[:600]}")
    return base64.b64decode(made[0])


def _trap(code: bytes) -> str:
    """The system call instruction that the library holds, if any; bytes alone may be data."""
    argv = ["objdump", "-d", "--no-show-raw-insn", "kernel.so"]
    outcome = _run(argv, {"kernel.so": code})
    shown = outcome.stdout.decode(errors="replace")
    if not shown or outcome.truncated:
        return "not shown by the disassembler"
    found = (line.split("\t", 1)[1] for line in shown.splitlines() if "\t" in line)
    return next((word for word in found if word.startswith(_TRAPS)), "")
