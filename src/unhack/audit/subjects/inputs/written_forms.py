r"""Ways to write a right completion, read from a verifier's source and from a prompt.

    forms_in(tree, prompt)          "Date: {answer}", "<final>{answer}</final>", '{"total": {json}}'
    fill(form, answer, columns)     the completion

A form is a text with places: `{answer}`, `{json}` (the answer as a JSON value) and `{column:NAME}`.
What a regular expression matches is written as its shortest text, with the answer for one of its
groups.

Covered: regular expressions, beginnings and separators of text methods, keys of JSON; tags and
quoted labels of prompts.
Not covered: forms that only a person can read out of a sentence.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ANSWER, JSON = "{answer}", "{json}"
_WORDS = "It can be worked out."
_MOST_GROUPS = 6
_LONGEST = 200
_TAG = re.compile(r"<([A-Za-z][\w-]{0,30})>")
_LABEL = re.compile(r"""(['"`“])([^'"`“”\n]{1,40}?[:=#])[^'"`“”\n]{0,60}['"`”]""")
_UNQUOTED = re.compile(r"\b([A-Z]\w{0,20}(?: \w{1,20})?:) ?(?=[<\[{(]|\.\.\.)")
_BEFORE = frozenset(
    {"startswith", "split", "rsplit", "partition", "rpartition", "removeprefix", "find", "index",
     "rfind", "rindex"}
)  # fmt: skip
_PATTERNS = frozenset({"compile", "search", "match", "fullmatch", "findall", "finditer"})
# The module is private, and the only parser of Python's regular expressions: every release from
# 3.11 has it, and another one would not read the same language.
_parser: Any = importlib.import_module("re._parser")


def fill(form: str, answer: str, columns: Mapping[str, Any]) -> str:
    """The completion of a form; a column that is not there leaves its place empty."""
    text = form.replace(JSON, _json_of(answer)).replace(ANSWER, answer)
    for name in re.findall(r"\{column:([^{}]+)\}", form):
        text = text.replace(f"{{column:{name}}}", str(columns.get(name, "")))
    return text


def _json_of(answer: str) -> str:
    try:
        return json.dumps(json.loads(answer), ensure_ascii=False)
    except (ValueError, RecursionError):
        return json.dumps(answer, ensure_ascii=False)


def forms_in(tree: ast.AST, prompt: str, columns: Mapping[str, Any]) -> list[str]:
    """Forms that a source and a prompt suggest, each once; `columns` are those of one row."""
    nodes = list(ast.walk(tree))
    found = [
        *(form for pattern in _patterns(nodes) for form in _of_pattern(pattern, columns)),
        *_of_prompt(prompt),
        *_of_methods(nodes),
        *_of_json(nodes),
    ]
    return [form for form in dict.fromkeys(found) if len(form) <= _LONGEST]


def separators_in(tree: ast.AST) -> list[str]:
    """Separators at which a source splits texts."""
    found: list[str] = []
    for node, name, text in _called(ast.walk(tree)):
        if name == "split" and len(node.args) > 1 and not isinstance(node.args[1], ast.Constant):
            found += re.findall(r"[,;|>/&]", text)  # re.split
        elif name in {"split", "rsplit", "partition", "rpartition"} and 0 < len(text) <= 4:
            found.append(text)
    return list(dict.fromkeys(found))


def _called(nodes: Iterator[ast.AST] | Sequence[ast.AST]) -> Iterator[tuple[ast.Call, str, str]]:
    """Calls of methods whose first argument is a literal text: (call, method, text)."""
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield node, node.func.attr, first.value


def _patterns(nodes: Sequence[ast.AST]) -> Iterator[str]:
    yield from (text for _, name, text in _called(nodes) if name in _PATTERNS)


def _of_methods(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Forms from labels that text methods look for, and that `in` tests."""
    labels = [text for _, name, text in _called(nodes) if name in _BEFORE]
    for node in nodes:
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            labels.append(str(getattr(node.left, "value", "")))
    for label in labels:
        if not 2 <= len(label.strip()) <= 40:
            continue
        tag = _TAG.fullmatch(label.strip())
        if tag:
            yield f"<{tag[1]}>{ANSWER}</{tag[1]}>"
        elif label.rstrip()[-1] in ":=#" or " is" in label:
            yield f"{label.rstrip()} {ANSWER}"


def _of_json(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Objects with one key that the source looks up, where it reads JSON."""
    if not any(name == "loads" for name in _attributes(nodes)):
        return
    keys = [text for _, name, text in _called(nodes) if name == "get"]
    for node in nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            keys.append(node.slice.value if isinstance(node.slice.value, str) else "")
    for key in [key for key in dict.fromkeys(keys) if key][:8]:
        yield f"{{{json.dumps(key)}: {JSON}}}"


def _attributes(nodes: Sequence[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id


def _of_prompt(prompt: str) -> Iterator[str]:
    for quoted in _LABEL.finditer(prompt):
        yield f"{quoted[2]} {ANSWER}"
    for label in _UNQUOTED.finditer(prompt):
        yield f"{label[1]} {ANSWER}"
    tags = list(dict.fromkeys(_TAG.findall(prompt)))[:4]
    for tag in reversed(tags):
        yield f"<{tag}>{ANSWER}</{tag}>"
        yield f"<{tag}>{JSON}</{tag}>"
    if len(tags) > 1:
        before = "".join(f"<{tag}>{_WORDS}</{tag}>\n" for tag in tags[:-1])
        yield f"{before}<{tags[-1]}>{ANSWER}</{tags[-1]}>"


def _of_pattern(pattern: str, columns: Mapping[str, Any]) -> Iterator[str]:
    """Forms of a regular expression with groups: each group as the answer, all groups as the
    answer, and the groups as columns that match them."""
    try:
        parsed = _parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return
    count = int(parsed.state.groups) - 1
    if not 1 <= count <= _MOST_GROUPS:
        return
    written = _Written("```" in pattern)
    whole = written.of(parsed)
    parts = re.split(r"\0(\d+)\0(.*?)\x02", whole, flags=re.DOTALL)
    fillers = parts[2::3]
    for chosen in range(len(fillers)):
        yield _joined(parts, {chosen: ANSWER})
    if len(fillers) > 1:
        yield f"{parts[0]}{ANSWER}{parts[-1]}"
        fitting = _fitting(written.groups, parts[1::3], columns)
        if fitting:
            yield _joined(parts, fitting)


def _joined(parts: Sequence[str], chosen: Mapping[int, str]) -> str:
    """The text, with other texts for the chosen groups, by their places."""
    found = [parts[0]]
    for place, (filler, after) in enumerate(zip(parts[2::3], parts[3::3], strict=True)):
        found += [chosen.get(place, filler or _WORDS), after]
    return "".join(found)


def _fitting(
    groups: Mapping[int, Any], numbers: Sequence[str], columns: Mapping[str, Any]
) -> dict[int, str]:
    """Columns that match the groups, each used once; empty where none does."""
    found: dict[int, str] = {}
    left = {
        name: str(value) for name, value in columns.items() if isinstance(value, (str, int, float))
    }
    for place, number in enumerate(numbers):
        for name, value in left.items():
            if len(value) <= _LONGEST and _matches(groups[int(number)], value):
                found[place] = f"{{column:{name}}}"
                del left[name]
                break
    return found


def _matches(parsed: Any, value: str) -> bool:
    """Tell whether a short text is what a simple group takes: letters where it takes letters,
    digits where it takes digits."""
    shortest = _Written(fence=False).of(parsed)
    kinds = {_kind(letter) for letter in shortest if not letter.isspace()}
    mine = {_kind(letter) for letter in value if not letter.isspace()}
    return bool(kinds) and kinds <= mine <= kinds | {"."}


def _kind(letter: str) -> str:
    return "digit" if letter.isdigit() else "letter" if letter.isalpha() else "."


@dataclass
class _Written:
    """Shortest texts of parsed regular expressions; groups stand between marks."""

    fence: bool
    """True where white space is better a new line: fences of code stand on lines of their own."""
    groups: dict[int, Any] = field(default_factory=dict[int, Any])

    def of(self, parsed: Any) -> str:
        """The text; group N stands between `\\0N\\0` and `\\x02`."""
        return "".join(self._one(str(op), arg) for op, arg in parsed)

    def _one(self, op: str, arg: Any) -> str:
        if op == "LITERAL":
            return chr(arg)
        if op == "IN":
            return self._member(arg)
        if op in {"ANY", "NOT_LITERAL"}:
            return "x"
        if op in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            least, _, inner = arg
            text = self.of(inner)
            held = "\0" in text or (self.fence and text == "\n")
            return text * max(int(least), 1 if held else 0) if least < 50 else ""
        if op == "SUBPATTERN":
            number, _, _, inner = arg
            if number is None or "\0" in (text := self.of(inner)):
                return self.of(inner)
            self.groups[number] = inner
            return f"\0{number}\0{text}\x02"
        return self.of(arg[1][0]) if op == "BRANCH" else ""

    def _member(self, members: Any) -> str:
        op, arg = str(members[0][0]), members[0][1]
        if op == "NEGATE":
            taken = {chr(value) for kind, value in members[1:] if str(kind) == "LITERAL"}
            return next((one for one in "x1- " if one not in taken), "")
        if op == "LITERAL":
            return chr(arg)
        if op == "RANGE":
            return chr(arg[0])
        name = str(arg)
        space = "\n" if self.fence else " "
        if name.endswith("NOT_SPACE"):
            return "x"
        return space if "SPACE" in name else "1" if name.endswith("_DIGIT") else "x"
