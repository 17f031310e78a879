"""The solution among the code blocks of a text, as a reader would put it together.

Each block is looked at as tokens of its lines, never parsed: the code is untrusted and may be no
code at all. One text gives one solution, whatever is asked of it and whatever would be right.

Covered: usage examples, tests, interactive sessions, signatures, quotes and fragments beside the
solution are left out; a later version of a name replaces an earlier one; parts that define
different names, or that need one another, are joined in order. Time is linear in the text.
Not covered: which of two programs is meant when neither defines a name (the last one is taken);
what stands beyond the first 1,000 characters of a line.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Sequence
from dataclasses import dataclass, field

from unhack.core.lines import (
    STATEMENTS,
    BoundedPattern,
    depth_change,
    is_name,
    token_lines,
)

MAX_BLOCKS = 40
"""Only the last blocks of a text are looked at."""
_WORD = BoundedPattern(r"[^\W\d]\w*")
_TEST = BoundedPattern(r"(?:test_?\w*|Test\w*|\w+_?[tT]ests?|\w+TestCase)$")
_READS = BoundedPattern(
    r"\binput\s*\(|\binput\b\s*[,)]|\bstdin\b|\bopen\s*\(\s*0|\bos\.read\s*\(\s*0|\bfileinput\b"
)
_KNOWN = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "__file__", "__name__"})
_GO_ON = frozenset(["else", "elif", "except", "finally", "pass", "case"])
_INNER = frozenset({
    "return", "yield", "break", "continue", "else", "elif", "except", "finally", "case", "nonlocal",
})  # fmt: skip
"""Words that no program begins with."""
_SHOWS = frozenset({"assert", "print", "unittest", "pytest", "doctest"})
_MAKERS = frozenset({"lambda", "partial", "functools", "cache", "lru_cache"})
_FILLERS = frozenset({"pass", "."})


@dataclass(slots=True)
class SourceBlock:
    """A block as its tokens tell: what it defines, binds, names, and does."""

    code: str
    defines: set[str] = field(default_factory=set[str])
    """Functions and classes of its top level that have a body, but for tests."""
    stubs: set[str] = field(default_factory=set[str])
    """Those of which only the first line and a docstring are there."""
    test_names: set[str] = field(default_factory=set[str])
    binds: set[str] = field(default_factory=set[str])
    """Other names that its top level binds."""
    own: set[str] = field(default_factory=set[str])
    """Names that it binds anywhere."""
    words: set[str] = field(default_factory=set[str])
    calls: set[str] = field(default_factory=set[str])
    """Names that an opening parenthesis or a dot follows."""
    loads: set[str] = field(default_factory=set[str])
    """Names that statements of its top level use."""
    early: set[str] = field(default_factory=set[str])
    """Those that are used before anything binds them."""
    lines: set[str] = field(default_factory=set[str])
    """Its lines without white space and comments."""
    acts: bool = False
    """True when its top level does something: calls, loops, prints, asserts."""
    reads: bool = False
    """True when it reads standard input."""
    whole: bool = False
    """False for an interactive session, a fragment that begins inside, or what is no code."""

    @property
    def tests(self) -> bool:
        """True when it defines tests and nothing else."""
        return bool(self.test_names) and not self.defines

    @property
    def free(self) -> set[str]:
        """Names that it uses when it is loaded and that nothing in it binds."""
        if "*" in self.binds:
            return set()
        unbound = self.early | (self.loads - self.own)
        return unbound - self.defines - self.stubs - self.test_names - _KNOWN


def read_block(code: str) -> SourceBlock:
    """The facts of one block."""
    block = SourceBlock(code)
    depth = 0
    holder = first = ""  # the definition that lines belong to; the first line with a token
    code_like = False
    for line, tokens in token_lines(code):
        first = first or line
        block.lines.add("".join(tokens))
        block.reads = block.reads or _has_read(line)
        at_edge = line[0] not in " \t\r"
        if at_edge and (not depth or tokens[0] in STATEMENTS):
            depth = 0
            holder = _take_statement(block, tokens)
        elif holder and not _is_filler(tokens):
            block.defines.add(holder)
        code_like = code_like or "=" in tokens or "(" in tokens or tokens[-1] == ":"
        code_like = code_like or tokens[0] in ("import", "from") or "==" in tokens
        if "assert" in tokens:
            block.words.add("assert")
        at_load = not holder and tokens[0] not in ("@", "import", "from")
        _take_names(block, tokens, at_load=at_load, depth=depth)
        depth = max(0, depth + depth_change(tokens))
    block.stubs -= block.defines
    block.test_names |= {name for name in block.defines if _TEST.match(name)}
    block.defines -= block.test_names
    inside = first.startswith((" ", "\t", ">>>")) or first.split(None, 1)[:1] in [
        [word] for word in _INNER
    ]
    block.whole = code_like and bool(block.words) and not inside
    return block


def _has_read(line: str) -> bool:
    return ("in" in line or "(" in line) and _READS.is_in(line)


def _is_filler(tokens: list[str]) -> bool:
    return all(token in _FILLERS or token[-1] in "\"'" for token in tokens)


def _take_statement(block: SourceBlock, tokens: list[str]) -> str:
    """Read the beginning of a statement at the left edge; the name that it defines, or nothing."""
    start = 1 if tokens[0] == "async" else 0
    head = tokens[start]
    if head in ("def", "class") and len(tokens) > start + 1:
        name = tokens[start + 1]
        block.stubs.add(name)
        if head == "class" and "TestCase" in tokens:
            block.test_names.add(name)
        if tokens[-1] not in (":", *_FILLERS, "(", ","):
            block.defines.add(name)
        return name
    if head in ("import", "from"):
        if "*" in tokens:
            block.binds.add("*")
        after = tokens.index("import") if "import" in tokens else 0
        block.binds |= {token for token in tokens[after:] if is_name(token)}
        return ""
    targets = _targets(tokens)
    if targets:
        maker = tokens[tokens.index("=") + 1 :][:1]
        made = len(targets) == 1 and maker and maker[0] in _MAKERS
        (block.defines if made else block.binds).update(targets)
    elif head not in _GO_ON and head != "@":
        loads_only = head[-1] in "\"'" or tokens[:2] == ["if", "__name__"]
        block.acts = block.acts or not loads_only
    return ""


def _targets(tokens: list[str]) -> list[str]:
    """The names before the first `=` of an assignment; none for any other statement."""
    found: list[str] = []
    before = ""
    for place, token in enumerate(tokens):
        if token == "=":
            return found
        if token == ":":  # an annotation may hold anything
            return found if "=" in tokens[place:] else []
        if is_name(token):
            found.append(token)
        elif token not in (",", "(", ")", "*") or (token == "(" and found and before != ","):
            return []
        before = token
    return []


def _take_names(block: SourceBlock, tokens: list[str], *, at_load: bool, depth: int) -> None:
    """Sort the names of a line into bound and used ones."""
    bound, used = set(_targets(tokens)), set[str]()
    binding = False  # between `for` and `in`, `lambda` and `:`, after `import`
    header = tokens[0] in ("def", "async", "class")
    inner = depth
    before = ""
    for place, token in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else ""
        if token in "([{":
            inner += 1
        elif token in ")]}":
            inner -= 1
        elif token in ("for", "lambda", "import"):
            binding = True
        elif token in ("in", ":"):
            binding = False
        elif token[-1] in "\"'":
            if token[0] in "fF" or token[1:2] in ("f", "F"):
                block.words.update(_WORD.findall(token))
        elif is_name(token):
            block.words.add(token)
            if after in ("(", "."):
                block.calls.add(token)
            parameter = header and before in ("(", ",", "*")
            walrus = after == ":" and tokens[place + 2 : place + 3] == ["="] and inner
            if binding or parameter or walrus or before in ("def", "class", "as", "global"):
                bound.add(token)
            elif at_load and before != "." and not (after == "=" and inner):
                used.add(token)
        before = token
    block.own |= bound
    block.loads |= used - bound
    if not depth and not inner:
        block.early |= used - block.own


def solution(codes: Sequence[str]) -> str:
    """The solution that these blocks make up; `codes` is not empty."""
    if len(codes) == 1:
        return codes[0]
    last_of_each = list(dict.fromkeys(reversed(codes)))[:MAX_BLOCKS]
    blocks = [read_block(code) for code in reversed(last_of_each)]
    blocks = [block for block in blocks if block.whole] or blocks[-1:]
    with_body = {name for block in blocks for name in block.defines}
    for block in blocks:
        block.defines |= block.stubs - with_body
        block.stubs &= with_body
    kept = [block for index, block in enumerate(blocks) if not _is_aside(blocks, index)]
    working = [block for block in blocks if block.defines or block.reads]
    return _joined(kept or working[-1:] or blocks[-1:])


def looks_like_code(code: str) -> bool:
    """True for a block that could be a solution: it defines something, reads input, or runs with
    the names that it has."""
    block = read_block(code)
    if not block.whole:
        return False
    return bool(block.defines or block.stubs or block.reads) or not block.free


def works(codes: Sequence[str]) -> bool:
    """True when one of the blocks defines something or reads input."""
    blocks = map(read_block, codes[-MAX_BLOCKS:])
    return any(block.whole and (block.defines or block.stubs or block.reads) for block in blocks)


def _is_aside(blocks: list[SourceBlock], index: int) -> bool:
    """True for a block that shows, tests or explains what another one defines."""
    block, others = blocks[index], blocks[:index] + blocks[index + 1 :]
    known = {name for other in others for name in other.defines}
    working = any(other.defines or other.reads for other in others)
    if block.tests or (block.stubs and not block.defines and not block.acts):
        return working if block.tests else bool(block.stubs & known)
    if any(_is_quote(block, other) for other in others):
        return True
    if block.reads:
        return False
    used = bool(block.words & known - block.defines)
    if any(other.reads for other in blocks[:index]) and block.acts and used:
        return not _starts(block, blocks[:index])
    if block.defines:
        return False
    return _is_example(block, others, known=known, used=used, working=working)


def _is_example(
    block: SourceBlock,
    others: list[SourceBlock],
    *,
    known: set[str],
    used: bool,
    working: bool,
) -> bool:
    """True for a block without definitions that is no part of the solution."""
    bound = {name for other in others for name in other.binds | other.defines}
    if working and "*" not in bound and block.free - bound:
        return True  # a fragment: it would not run
    guarded = "__name__" in block.words
    idle = not (block.acts or guarded or "*" in block.binds or _begins_with_import(block))
    if working and idle and not any(block.binds & other.words for other in others):
        return True
    reading = any(other.reads for other in others)
    if not known:
        return reading and "assert" in block.words
    if guarded and reading and not any(other.acts for other in others):
        return False
    if used or guarded:
        return block.acts or guarded or bool(block.calls & known)
    return block.acts and bool(block.words & _SHOWS) and not reading


def _is_quote(block: SourceBlock, other: SourceBlock) -> bool:
    """True when every line of a block stands in another one, of which it is no later version."""
    version = (block.defines and block.defines == other.defines) or (block.reads and block.acts)
    return not version and len(block.lines) < len(other.lines) and block.lines <= other.lines


def _starts(block: SourceBlock, earlier: list[SourceBlock]) -> bool:
    """True for a call of the one function that reads the input, which nothing has called yet."""
    read = [other for other in earlier if other.reads]
    return len(block.lines) == 1 and all(
        not other.acts and len(other.defines) == 1 and other.defines <= block.calls
        for other in read
    )


def _joined(blocks: list[SourceBlock]) -> str:
    """The last block, with the earlier ones that add to it or that it needs."""
    taken = [blocks[-1]]
    last = taken[0]
    defined, own, words = set(last.defines), last.own | last.defines, set(last.words)
    for block in reversed(blocks[:-1]):
        needed = (block.binds | block.defines) & words - own
        new = block.defines - defined if block.defines else _begins_with_import(block)
        adds = new and not (block.acts or block.reads)
        if block.code not in taken[0].code and (needed or adds):
            taken.insert(0, block)
            defined |= block.defines
            own |= block.own | block.defines
            words |= block.words
    return "\n".join(block.code for block in taken)


def _begins_with_import(block: SourceBlock) -> bool:
    return block.code.lstrip().startswith(("import ", "from "))
