"""The solution among the code blocks of a text, as a reader would put it together.

Each block is looked at as lines, never parsed: the code is untrusted and may be no code at all. One
text gives one solution, whatever is asked of it and whatever would be right.

Covered: usage examples, tests, interactive sessions and fragments beside the solution are left out;
a later version of a name replaces an earlier one; parts that define different names, or that need
one another, are joined in order.
Not covered: which of two programs is meant when neither defines a name (the last one is taken).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MAX_BLOCKS = 40
"""Only the last blocks of a text are looked at."""
_DEFINITION = re.compile(r"(?:async\s+def|def|class)\s+(\w+)")
_LAMBDA = re.compile(
    r"(\w+)\s*(?::[^=]+)?=\s*(?:lambda\b|(?:functools\.)?(?:partial|cache|lru_cache))"
)
_ASSIGNED = re.compile(r"([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s*(?::[^=\n]+)?=(?!=)")
_IMPORT = re.compile(r"(?:import|from)\b(.*)")
_BOUND = re.compile(
    r"\b(?:def|class)\s+(\w+)|\bfor\s+([\w\s,()]+?)\s+in\b|\bas\s+(\w+)|\bimport\s+([\w\s,.*]+)"
    r"|(?:^|[;:\n])\s*([A-Za-z_][\w\s,]*?)\s*(?::[^=\n]*)?=(?!=)|\blambda\s+([\w\s,]*):",
    re.MULTILINE,
)
_PARAMETERS = re.compile(r"\bdef\s+\w+\s*\(([^)]*)\)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_READS = re.compile(
    r"\binput\s*\(|\binput\b\s*[,)]|\bstdin\b|\bopen\s*\(\s*0|\bos\.read\s*\(\s*0|fileinput"
)
_CODE = re.compile(r"[=(]|:[ \t]*(?:#.*)?$|^(?:import|from)\b", re.MULTILINE)
_TEST = re.compile(r"test_?\w*$|Test\w*$|\w+_?[tT]ests?$")
_CLOSERS = (")", "]", "}", "#")
_KEYWORDS = re.compile(r"(?:else|elif|except|finally|pass|case)\b")
_EXAMPLE = re.compile(r"assert\b|print\s*\(|unittest\.main|pytest\.main|doctest\.")


@dataclass(frozen=True)
class SourceBlock:
    """A block as its lines tell: what it defines, binds, names, and does."""

    code: str
    defines: frozenset[str]
    """Functions and classes of its top level, but for tests."""
    tests: bool
    """True when it defines tests and nothing else."""
    binds: frozenset[str]
    """Names that its top level binds, those of `defines` included."""
    own: frozenset[str]
    """Names that it binds anywhere."""
    words: frozenset[str]
    acts: bool
    """True when its top level does something: calls, loops, prints, asserts."""
    reads: bool
    """True when it reads standard input."""
    whole: bool
    """False for an interactive session, a fragment that begins indented, or what is no code."""


def read_block(code: str) -> SourceBlock:
    """The facts of one block."""
    lines = code.split("\n")
    first = next((line for line in lines if line.strip()), "")
    defined: list[str] = []
    bound: list[str] = []
    acts = False
    for line in _top_lines(lines):
        if match := _DEFINITION.match(line) or _LAMBDA.match(line):
            defined.append(match[1])
        elif match := _IMPORT.match(line) or _ASSIGNED.match(line):
            bound += _WORD.findall(match[1])
        elif not line.startswith("@") and not _KEYWORDS.match(line):
            acts = acts or not line.startswith(("if __name__", '"', "'"))
    names = frozenset(name for name in defined if not _TEST.match(name))
    own = [
        name for groups in _BOUND.findall(code) for part in groups for name in _WORD.findall(part)
    ]
    own += [name for part in _PARAMETERS.findall(code) for name in _WORD.findall(part)]
    return SourceBlock(
        code,
        defines=names,
        tests=bool(defined) and not names,
        binds=frozenset([*names, *bound]),
        own=frozenset(own),
        words=frozenset(_WORD.findall(code)),
        acts=acts,
        reads=_READS.search(code) is not None,
        whole=not first.startswith((" ", "\t", ">>>")) and _CODE.search(code) is not None,
    )


def _top_lines(lines: list[str]) -> list[str]:
    """Lines that begin a statement at the left edge; not those within a long string."""
    found: list[str] = []
    within = ""
    for line in lines:
        if within:
            if within in line:
                within = ""
            continue
        if line[:1] not in ("", " ", "\t", "\r") and not line.startswith(_CLOSERS):
            found.append(line)
        for mark in ('"""', "'''"):
            if line.count(mark) % 2:
                within = mark
                break
    return found


def solution(codes: Sequence[str]) -> str:
    """The solution that these blocks make up; `codes` is not empty."""
    if len(codes) == 1:
        return codes[0]
    blocks = [read_block(code) for code in codes[-MAX_BLOCKS:]]
    blocks = [block for block in blocks if block.whole and block.code.strip()] or blocks[-1:]
    kept = [block for index, block in enumerate(blocks) if not _is_example(blocks, index)]
    return _joined(kept or blocks[-1:])


def _is_example(blocks: list[SourceBlock], index: int) -> bool:
    """True for a block that shows or tests what another one defines."""
    block, others = blocks[index], blocks[:index] + blocks[index + 1 :]
    known = frozenset(name for other in others for name in other.defines)
    if block.tests:
        return bool(known)
    if block.reads:
        return False
    used = bool(block.words & known - block.defines)
    if any(other.reads for other in blocks[:index]) and block.acts and used:
        return True
    if block.defines:
        return False
    guarded = "__name__" in block.words
    shows = block.acts and _EXAMPLE.search(block.code) is not None
    if not known:
        return False
    if used or guarded:
        return block.acts or guarded or _calls(block, known)
    return shows and not any(other.reads for other in others)


def _calls(block: SourceBlock, known: frozenset[str]) -> bool:
    return any(
        re.search(rf"\b{re.escape(name)}\s*[(.]", block.code) for name in block.words & known
    )


def _joined(blocks: list[SourceBlock]) -> str:
    """The last block, with the earlier ones that add to it or that it needs."""
    taken = [blocks[-1]]
    defined, own, words = set(taken[0].defines), set(taken[0].own), set(taken[0].words)
    for block in reversed(blocks[:-1]):
        needed = block.binds & words - own
        alone = not (block.acts or block.reads or block.defines & defined)
        adds = alone and (block.defines or _IMPORT.match(block.code.lstrip()))
        if block.code not in taken[0].code and (needed or adds):
            taken.insert(0, block)
            defined |= block.defines
            own |= block.own
            words |= block.words
    return "\n".join(block.code for block in taken)
