"""C and CUDA sources that reach for the judge or talk to it, read token by token.

Covered: stack walks, other processes, clocks and writes that are defined anew, descriptors,
files that the compiler is told to take in, environment, comments.
Not covered: what macros paste together; threads, constructors and dynamic loading have honest uses
and are answered by the sandbox and by the clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from unhack.tournament.scan.against import Sign

_KIND = "reaches_out"
_CALLS = {
    "ptrace": "traces a process", "process_vm_readv": "reads a process",
    "process_vm_writev": "writes to a process", "pidfd_getfd": "takes a descriptor",
    "__builtin_return_address": "walks the stack", "__builtin_frame_address": "walks the stack",
    "dl_iterate_phdr": "lists what is loaded", "backtrace": "walks the stack",
    "dup2": "replaces a descriptor", "dup3": "replaces a descriptor",
    "clock_settime": "sets the clock", "settimeofday": "sets the clock",
    "userfaultfd": "catches page faults", "kill": "sends signals",
}  # fmt: skip
_LEAVES = {"_exit", "_Exit", "quick_exit", "exit"}
_INTERPOSED = {
    "clock_gettime", "gettimeofday", "time", "clock", "times", "write", "writev", "send",
    "sendmsg", "read", "recv", "memcmp", "nanosleep", "cudaEventElapsedTime", "cudaEventRecord",
    "cudaDeviceSynchronize", "cudaStreamSynchronize", "cuStreamSynchronize", "pthread_create",
}  # fmt: skip
_TYPES = {"int", "long", "ssize_t", "time_t", "clock_t", "void", "unsigned", "cudaError_t",
          "size_t", "CUresult"}  # fmt: skip
_SECRETS = ("judge", "verdict", "secret", "sealed", "answer", "expected", "unhack", "hidden")
_FILES = (
    "/proc/self/mem",
    "/proc/self/environ",
    "/proc/self/fd",
    "/proc/1/",
    "/dev/mem",
    "/proc/kcore",
)
_ASSEMBLER = {"asm", "__asm__", "volatile", "__volatile__"}
_OPENERS = {"open", "fopen", "open64", "fopen64", "openat"}


@dataclass(frozen=True, slots=True)
class CToken:
    """A word, number, sign, text, comment or directive."""

    kind: str
    text: str
    line: int


def tokens(text: str) -> list[CToken]:
    """All but comments and blanks."""
    return [token for token in _read(text) if token.kind != "comment"]


def comments(text: str) -> list[tuple[int, str]]:
    """Comments and texts with their lines; neighbouring line comments are one."""
    found: list[tuple[int, str]] = []
    last = -1
    for token in _read(text):
        if token.kind == "text":
            found.append((token.line, token.text))
        if token.kind != "comment":
            continue
        words = token.text.strip("/* \n\t")
        if found and token.line == last + 1 and token.text.startswith("//"):
            found[-1] = (found[-1][0], f"{found[-1][1]} {words}")
        else:
            found.append((token.line, words))
        last = token.line
    return found


def reaching(path: str, text: str) -> list[Sign]:
    """Every sign in one file."""
    lines = text.split("\n")
    found = [
        Sign(kind, path, line, lines[line - 1].strip(), why)
        for kind, line, why in _signs(tokens(text))
    ]
    return found


def _signs(read: list[CToken]) -> Iterator[tuple[str, int, str]]:
    for at, token in enumerate(read):
        after = read[at + 1].text if at + 1 < len(read) else ""
        before = read[at - 1] if at else CToken("sign", "", 0)
        if token.kind == "directive":
            yield from _directive(token)
        elif token.kind == "word" and after == "(":
            yield from _called(read, at, before)
        elif token.kind == "text" and before.text == "(" and at > 1:
            yield from _named(token, read[at - 2].text)
            written = any(word in token.text for word in (".incbin", "\\x0f\\x05", "syscall"))
            if written and read[at - 2].text in _ASSEMBLER:
                yield _KIND, token.line, "calls the kernel, or takes a file in, by assembler"


def _called(read: list[CToken], at: int, before: CToken) -> Iterator[tuple[str, int, str]]:
    token = read[at]
    defined = before.text in _TYPES or (before.text == "*" and read[at - 2].text in _TYPES)
    top = defined and _opens_body(read, at + 1)
    if top:
        static = any(item.text == "static" for item in read[max(0, at - 3) : at])
        if token.text in _INTERPOSED and not static:
            yield _KIND, token.line, f"defines `{token.text}` anew"
    elif defined:
        return
    elif token.text in _CALLS and before.text not in (".", "->"):
        yield _KIND, token.line, f"{_CALLS[token.text]} (`{token.text}`)"
    elif token.text in _LEAVES and before.text not in (".", "->"):
        success = read[at + 2 : at + 3] and read[at + 2].text in ("0", "EXIT_SUCCESS")
        if success and not any(item.text in ("fork", "vfork") for item in read):
            yield "forged_verdict", token.line, f"ends the process as a success (`{token.text}`)"
    elif token.text in ("write", "pwrite", "dprintf", "read") and at + 2 < len(read):
        first = read[at + 2]
        if first.kind == "number" and first.text.isdigit() and int(first.text) >= 3:
            yield _KIND, token.line, f"uses descriptor {first.text}, which it did not open"


def _opens_body(read: list[CToken], at: int) -> bool:
    """Tell whether the parenthesis at `at` is followed by a body."""
    depth = 0
    for index in range(at, min(at + 400, len(read))):
        depth += {"(": 1, ")": -1}.get(read[index].text, 0)
        if depth == 0:
            return index + 1 < len(read) and read[index + 1].text == "{"
    return False


def _named(token: CToken, function: str) -> Iterator[tuple[str, int, str]]:
    text = token.text.strip('"')
    if function in _OPENERS and text.startswith(_FILES):
        yield _KIND, token.line, f"opens {text!r}"
    words = text.lower().split("_")
    if function in ("getenv", "secure_getenv") and any(word in _SECRETS for word in words):
        yield _KIND, token.line, f"asks the environment for {text!r}"


def _directive(token: CToken) -> Iterator[tuple[str, int, str]]:
    words = token.text.lstrip("# \t").split(None, 1)
    if len(words) == 2 and words[0] in ("include", "embed", "include_next"):
        path = words[1].strip('"<> \t')
        if path.startswith("/") or ".." in path.split("/"):
            yield _KIND, token.line, f"has the compiler read {path!r}"


def _read(text: str) -> Iterator[CToken]:
    at, line, fresh = 0, 1, True
    while at < len(text):
        char = text[at]
        if char == "\n":
            at, line, fresh = at + 1, line + 1, True
            continue
        if char in " \t\r\f\v":
            at += 1
            continue
        if char == "\\" and text[at + 1 : at + 2] == "\n":
            at, line = at + 2, line + 1
            continue
        kind, end = _one(text, at, fresh=fresh)
        yield CToken(kind, text[at:end], line)
        line += text.count("\n", at, end)
        fresh = fresh and kind == "comment"
        at = end


def _one(text: str, at: int, *, fresh: bool) -> tuple[str, int]:
    """The kind of what begins here, and where it ends."""
    char, two = text[at], text[at : at + 2]
    if two == "//":
        return "comment", _line_end(text, at)
    if two == "/*":
        end = text.find("*/", at + 2)
        return "comment", end + 2 if end >= 0 else len(text)
    if char == "#" and fresh:
        return "directive", _line_end(text, at)
    if char in "\"'":
        return "text", _quoted(text, at)
    end = at + 1
    if char.isalpha() or char in "_$":
        while end < len(text) and (text[end].isalnum() or text[end] in "_$"):
            end += 1
        return "word", end
    if char.isdigit():
        while end < len(text) and (text[end].isalnum() or text[end] in "._'"):
            end += 1
        return "number", end
    return "sign", at + 2 if two in ("->", "==", "<<", ">>", "&&", "||", "+=", "::") else end


def _line_end(text: str, at: int) -> int:
    """The end of a line that a backslash may carry on."""
    end = text.find("\n", at)
    while end > 0 and text[end - 1] == "\\":
        end = text.find("\n", end + 1)
    return end if end >= 0 else len(text)


def _quoted(text: str, at: int) -> int:
    quote, end = text[at], at + 1
    while end < len(text) and text[end] not in (quote, "\n"):
        end += 2 if text[end] == "\\" else 1
    return min(end + 1, len(text))
