"""The calls of a compiled kernel into the C library, read from its dynamic symbols.

Covered: calls that no kernel needs, by what they are for; names of the C library that a submission
defines itself. A submission's file may say anything of itself: whatever the parser makes of it is a
ValueError, and its reads are counted, so that no table of endless length keeps it.
Not covered: system calls made without the library (`compiler` looks for the instruction).
Source: the System V ABI, chapter 4 and 5 (ELF-64, little endian).

Calls of a kernel that look like a reach and are none, told by how its source makes them.

Covered: leaving with a failure (`exit(1)` when memory is short), asking the environment for a
setting by a name that stands there, placing its own threads on processors. Every use in the source
has to be such a call: a name that is taken, pasted together, or written in assembler is not.
Not covered: what the calls do; the sandbox keeps an empty environment and all processors' masks.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from unhack.tournament.kit import Flag
from unhack.tournament.scan.reading.csource import CToken, tokens

_LEAVES = frozenset({"exit", "_exit", "_Exit", "quick_exit"})
_ASKS = frozenset({"getenv", "secure_getenv"})
_PLACES = frozenset({"sched_setaffinity", "pthread_setaffinity_np"})
_SECRETS = frozenset(
    {"judge", "verdict", "secret", "sealed", "answer", "answers", "expected", "unhack", "hidden",
     "seed", "grader", "token", "key", "path", "home", "preload"}
)  # fmt: skip
_ASSEMBLER = frozenset({"asm", "__asm__", "__asm"})


def harmless(files: Mapping[str, bytes], names: frozenset[str]) -> frozenset[str]:
    """Those of the library's names that the source uses in an honest way only."""
    read = [token for data in files.values() for token in tokens(data.decode("latin-1"))]
    words = {token.text for token in read if token.kind == "word"}
    if words & _ASSEMBLER or any(_pastes(token, names) for token in read):
        return names & _PLACES
    return frozenset(name for name in names if name in _PLACES or _plain(name, read))


def _pastes(token: CToken, names: frozenset[str]) -> bool:
    """Tell whether a macro could make one of these calls, or another constant of a failure."""
    if token.kind != "directive" or not token.text.lstrip("# \t").startswith("define"):
        return False
    return "##" in token.text or any(name in token.text for name in (*names, "EXIT_FAILURE"))


def _plain(name: str, read: list[CToken]) -> bool:
    places = [at for at, token in enumerate(read) if token.text == name and token.kind == "word"]
    check = _fails if name in _LEAVES else _asks if name in _ASKS else None
    return bool(places and check) and all(check(read[at + 1 : at + 4]) for at in places if check)


def _fails(after: list[CToken]) -> bool:
    """`(1)`, `(EXIT_FAILURE)`: a status that no parent takes for success."""
    if len(after) < 3 or after[0].text != "(" or after[2].text != ")":
        return False
    text = after[1].text
    try:
        return text == "EXIT_FAILURE" or int(text, 0) & 0xFF != 0
    except ValueError:
        return False


def _asks(after: list[CToken]) -> bool:
    """`("OMP_NUM_THREADS")`: a name that stands there and is nobody's secret."""
    if len(after) < 3 or after[0].text != "(" or after[2].text != ")" or after[1].kind != "text":
        return False
    text = after[1].text.strip('"')
    plain = text.replace("_", "").isalnum()
    return plain and not _SECRETS & set(text.lower().split("_"))


_MATH = """
    sqrt exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh
    asinh acosh atanh erf erfc pow fabs fmax fmin floor ceil round roundeven rint trunc fmod
    remainder fma ldexp frexp hypot cbrt sincos lrint llrint lround llround nearbyint copysign
    tgamma lgamma scalbn modf fdim
""".split()  # noqa: SIM905
_PLAIN = """
    malloc calloc realloc free aligned_alloc posix_memalign memalign memcpy memmove memset memcmp
    mempcpy memchr strlen strcmp strncmp abs labs mmap munmap madvise sched_yield sched_getaffinity
    sysconf get_nprocs get_nprocs_conf abort printf puts putchar fprintf snprintf sprintf fwrite
    fputs fputc fflush stdout stderr strerror perror rand srand
    __stack_chk_fail __cxa_finalize __gmon_start__ __tls_get_addr __assert_fail __errno_location
    __cpu_model __cpu_indicator_init _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable
    __memcpy_chk __memset_chk __memmove_chk __printf_chk __fprintf_chk __snprintf_chk
    __sprintf_chk __cxa_atexit __sched_cpucount __sched_cpualloc __sched_cpufree
""".split()  # noqa: SIM905
ALLOWED = frozenset(_PLAIN + [name + end for name in _MATH for end in ("", "f", "l")])
ALLOWED_PREFIXES = ("GOMP_", "omp_", "pthread_", "sem_", "_ZGV", "__atomic_")

LIBRARY = frozenset(
    """qsort qsort_r bsearch lfind lsearch tsearch hsearch hcreate dlopen dlsym dlvsym dlmopen
    dladdr dlinfo""".split()  # noqa: SIM905
)
"""Work that is handed to somebody else."""
PROCESSES = frozenset(
    "fork vfork clone clone3 posix_spawn posix_spawnp daemon forkpty".split()  # noqa: SIM905
)
LEAVES = frozenset("exit _exit _Exit quick_exit pthread_exit longjmp siglongjmp".split())  # noqa: SIM905
REACHES = frozenset(
    """open open64 openat openat64 creat fopen fopen64 fdopen freopen read pread pread64 readv
    write pwrite pwrite64 writev send sendto sendmsg recv recvfrom recvmsg socket socketpair
    connect accept bind listen ioctl fcntl dup dup2 dup3 pipe pipe2 close select poll ppoll
    epoll_wait mprotect mremap pkey_mprotect process_vm_readv process_vm_writev ptrace syscall
    prctl arch_prctl signal sigaction bsd_signal sigaltstack kill tgkill raise execve execv execvp
    execl execlp system popen memfd_create shm_open shmget shmat getauxval dl_iterate_phdr
    backtrace environ __environ getenv secure_getenv setenv putenv unsetenv setpriority nice
    sched_setaffinity sched_setscheduler pthread_setaffinity_np opendir readdir readlink stat
    fstat lstat fread fgets fscanf fseek getline mincore _r_debug gnu_get_libc_version
    __libc_start_main""".split()  # noqa: SIM905
)
CLOCKS = frozenset(
    """clock_gettime clock_getres gettimeofday time clock times getrusage timespec_get ftime
    nanosleep clock_nanosleep usleep sleep timer_create setitimer alarm""".split()  # noqa: SIM905
)

MAX_READS = 100_000
"""Reads of the parser, about two seconds: a symbol takes nine, and a kernel has tens of them."""
_SYMBOL_BYTES = 24
_X86_TRAPS = (b"\x0f\x05", b"\x0f\x34", b"\xcd\x80")


@dataclass(frozen=True, slots=True)
class Symbols:
    """The dynamic symbols of a library."""

    imports: frozenset[str]
    exports: frozenset[str]
    may_trap: bool
    """True when bytes of a system call instruction occur in it."""


def read(code: bytes) -> Symbols:
    """Raises ValueError for what is no 64-bit little-endian ELF file."""
    if code[:6] != b"\x7fELF\x02\x01":
        raise ValueError("it is no 64-bit ELF library")
    try:
        imports, exports = _dynamic(code)
    except Exception as error:  # the reader's own errors are not all that a made-up header raises
        raise ValueError(f"its symbol table is broken: {error}") from None
    may_trap = any(trap in code for trap in _X86_TRAPS)
    return Symbols(imports, exports, may_trap)


class _Metered(io.BytesIO):
    """A stream that ends a parser's loops: each round of them reads."""

    left = MAX_READS

    def read(self, size: int | None = -1, /) -> bytes:
        """As `BytesIO.read`. Raises ValueError when all reads are spent."""
        self.left -= 1
        if self.left < 0:
            raise ValueError("it has too many entries")
        return super().read(size)


def _dynamic(code: bytes) -> tuple[frozenset[str], frozenset[str]]:
    """Names that a library asks for, and names that it defines."""
    imports: set[str] = set()
    exports: set[str] = set()
    for section in ELFFile(_Metered(code)).iter_sections("SHT_DYNSYM"):
        assert isinstance(section, SymbolTableSection)
        if section["sh_entsize"] != _SYMBOL_BYTES:
            raise ValueError("the dynamic loader steps over its symbols otherwise")
        for symbol in section.iter_symbols():
            start = int(section.stringtable["sh_offset"]) + int(symbol["st_name"])
            # The parser has no name for one without an end; the dynamic loader would find one.
            if not symbol.name.isascii() or (not symbol.name and code[start : start + 1] != b"\0"):
                raise ValueError("a name is no plain text")
            if symbol.name and symbol["st_info"]["bind"] != "STB_LOCAL":
                (imports if symbol["st_shndx"] == "SHN_UNDEF" else exports).add(symbol.name)
    return frozenset(imports), frozenset(exports)


def objections(
    symbols: Symbols, *, allowed: frozenset[str] = frozenset()
) -> tuple[list[str], list[Flag]]:
    """Forbidden calls, in words, and the flags for those of them that make a submission gamed.

    `allowed`: calls that its source makes in an honest way (`harmless`).
    """
    words: list[str] = []
    flags: list[Flag] = []
    for kind, names, text in (
        ("library_call", LIBRARY, "hands work to"),
        ("work_after_done", PROCESSES, "starts processes with"),
        ("forged_verdict", LEAVES, "leaves the process with"),
        ("reaches_out", REACHES, "reaches beyond its buffers with"),
    ):
        found = sorted((symbols.imports & names) - allowed)
        if found:
            words.append(f"it {text} {', '.join(found)}")
            flags.append(Flag(kind, f"the compiled code {text} {', '.join(found)}", "judge"))
    own = sorted(symbols.exports & (REACHES | CLOCKS | LEAVES | LIBRARY))
    if own:
        words.append(f"it defines {', '.join(own)} of the C library")
        flags.append(
            Flag("reaches_out", f"it puts itself in the place of {', '.join(own)}", "judge")
        )
    known = LIBRARY | PROCESSES | LEAVES | REACHES | ALLOWED
    rest = sorted(name for name in symbols.imports - known if not name.startswith(ALLOWED_PREFIXES))
    if rest:
        words.append(f"it needs {', '.join(rest)}, which a kernel may not call")
    return words, flags
