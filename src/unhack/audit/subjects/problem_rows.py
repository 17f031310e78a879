"""Problems for an audit: rows of a JSONL file, and the cases of a verifier's folder.

    {"prompt": "...", "answer": "...", "correct": ["..."], "wrong": ["..."], ...}
    {"prompt": "...", "entry_point": "f", "calls": [{"args": [2], "expected": 4}], ...}

Covered: the usual names of the columns, chat prompts, verl's `reward_model`; every other column is
kept for the reward function. Cases as objects with `args`, `kwargs` and `expected`, as `input` and
`output`, as `[args, expected]`, or as objects whose keys are the function's parameters; tables of
literals and asserts in the verifier's own source.
Not covered: cases that the verifier draws while it runs.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from unhack.audit.static_analysis.labels import name_of_call
from unhack.audit.subject import AuditProblem, Call, record_of, tree_of
from unhack.core import plain
from unhack.core.completion import extract_code
from unhack.tasks.reading import fault, read_text

_PROMPTS = ("prompt", "question", "problem", "query", "instruction", "input")
_ANSWERS = (
    "answer", "ground_truth", "final_answer", "expected_answer", "target", "label", "gold",
    "solution", "expected", "reference",
)  # fmt: skip
_EXPECTED = ("expected", "expected_output", "output", "result", "returns", "answer", "want", "out")
_INPUTS = ("args", "input", "inputs", "arguments", "in", "stdin")
_TABLES = ("cases", "tests", "test_cases", "examples", "inputs_outputs")
KNOWN_COLUMNS = (
    *_PROMPTS, *_ANSWERS, "id", "correct", "wrong", "entry_point", "calls", "metadata",
    "reward_model", "data_source", "ability", "extra_info",
)  # fmt: skip
"""Columns that have a meaning of their own; every other one is kept for the reward function."""
_MISSING = object()


def read_problems(path: Path) -> tuple[AuditProblem, ...]:
    """The problems of a JSONL file, or of a JSON file with a list.

    Raises TaskError, which names file and line.
    """
    found: list[AuditProblem] = []
    for number, row in _rows(path):
        if not isinstance(row, dict):
            raise fault(path, "a row must be an object with a `prompt`", line=number)
        try:
            found.append(problem_of(cast("dict[str, Any]", row), name=f"{path.stem}#{len(found)}"))
        except ValueError as error:
            raise fault(path, str(error), line=number) from None
    if not found:
        raise fault(path, "holds no problem")
    if len({problem.id for problem in found}) != len(found):
        raise fault(path, "two rows have the same `id`")
    return tuple(found)


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    text = read_text(path)
    if path.suffix == ".json":
        try:
            whole = plain.decode_tags(json.loads(text))
        except ValueError as error:
            raise fault(path, f"not JSON: {error}") from None
        yield from ((index + 1, row) for index, row in enumerate(_table(whole)))
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, plain.decode_tags(json.loads(line))
            except ValueError as error:
                raise fault(path, f"not JSON: {error}", line=number) from None


def problem_of(row: dict[str, Any], *, name: str) -> AuditProblem:
    """The problem of one row. Raises ValueError, which says what to change."""
    prompt_column = next((column for column in _PROMPTS if row.get(column) is not None), None)
    if prompt_column is None:
        raise ValueError("needs `prompt`, the text that the policy reads")
    answer_column = next((column for column in _ANSWERS if row.get(column) is not None), None)
    answer = _text_of(row[answer_column]) if answer_column else None
    reward_model = row.get("reward_model")
    truth = record_of(reward_model).get("ground_truth")
    answer = _text_of(truth) if answer is None else answer
    entry_point = row.get("entry_point")
    calls = tuple(cases_of(row.get("calls", []), ()))
    if entry_point is not None and not isinstance(entry_point, str):
        raise ValueError("`entry_point` must be the name of a function")
    taken = {prompt_column, "id", "entry_point"}
    if isinstance(row.get(answer_column or ""), str) and answer_column == "answer":
        taken.add("answer")
    extra = {key: value for key, value in row.items() if key not in taken}
    if "ground_truth" not in extra and isinstance(reward_model, dict):
        extra["ground_truth"] = truth
    return AuditProblem(
        id=str(row.get("id", name)),
        prompt=_prompt_text(row[prompt_column]),
        answer=answer,
        correct=_texts(row.get("correct", []), "correct"),
        entry_point=entry_point,
        calls=calls,
        extra=extra,
    )


def _texts(value: Any, name: str) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else value
    if isinstance(items, list):
        texts = [item for item in cast("list[Any]", items) if isinstance(item, str)]
        if len(texts) == len(cast("list[Any]", items)):
            return tuple(texts)
    raise ValueError(f"`{name}` must be a list of completions")


def _text_of(value: Any) -> str | None:
    """An answer as text; None for what is no single value."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, list) and cast("list[Any]", value):
        return _text_of(cast("list[Any]", value)[0])
    return None


def _prompt_text(value: Any) -> str:
    """A prompt as text; of chat messages the last one of the user."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        for message in reversed(cast("list[Any]", value)):
            fields = record_of(message)
            if fields.get("role") == "user" and isinstance(fields.get("content"), str):
                return fields["content"]
    raise ValueError("the prompt must be a text, or messages with one of the user")


# Cases of code.


def folder_cases(
    reference: str, cases: str, script: str, *, prompt: str = ""
) -> tuple[str | None, tuple[Call, ...]]:
    """(entry point, calls) of a verifier's folder, as far as its files tell.

    `reference` is the known-correct completion, `cases` the text of the file of cases, `script` the
    verifier. The entry point is None for programs that read standard input.
    """
    source = extract_code(reference) or reference
    functions = _functions(source)
    rows = _case_rows(cases)
    reads_input = "stdin" in source or "input(" in source
    entry = _entry(functions, rows, script, prompt, reads_input=reads_input)
    parameters = functions.get(entry, ()) if entry else ()
    whole = len(parameters) == 1 and "*" not in _call_marks(script)
    calls = [
        call
        for call in cases_of(rows, parameters, whole=whole)
        if entry is not None or may_be_stdin(call)
    ]
    if entry is not None and not calls:
        calls = _calls_in_source(script, entry, parameters)
    return entry, tuple(calls)


def may_be_stdin(call: Call) -> bool:
    """Tell whether a call may be a run of a program with that standard input."""
    return len(call.args) == 1 and isinstance(call.args[0], str) and not call.kwargs


def _functions(source: str) -> dict[str, tuple[str, ...]]:
    """Public functions of a program: name -> parameters."""
    tree = tree_of(source)
    return {
        node.name: tuple(item.arg for item in (*node.args.posonlyargs, *node.args.args))
        for node in (tree.body if tree is not None else ())
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }


def _entry(
    functions: dict[str, tuple[str, ...]],
    rows: Sequence[Any],
    script: str,
    prompt: str,
    *,
    reads_input: bool,
) -> str | None:
    """The function that the verifier calls: named by a row, by its source, or by the prompt."""
    for row in rows:
        fields = record_of(row)
        for key in ("entry_point", "function", "func", "fn", "name"):
            if fields.get(key) in functions:
                return fields[key]
    named = _names_in(script)
    if not named & set(functions) and reads_input:
        return None
    for known in (named, set(prompt.replace("`", " ").replace("(", " ").split())):
        likely = [name for name in functions if name in known]
        if likely:
            return likely[-1]
    return list(functions)[-1] if functions and "main" not in functions else None


def _nodes(script: str) -> list[ast.AST]:
    """Every node of a source; none where it is no Python."""
    tree = tree_of(script)
    return [] if tree is None else list(ast.walk(tree))


def _names_in(script: str) -> set[str]:
    """Attributes, imported names and texts of a source: ways to name a solution's function."""
    nodes = _nodes(script)
    found = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    found |= {node.value for node in nodes if isinstance(node, ast.Constant)
              and isinstance(node.value, str)}  # fmt: skip
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            found |= {item.name for item in node.names}
    return found


def _call_marks(script: str) -> set[str]:
    """`*` where the verifier spreads a list over the arguments of a call."""
    return {"*" for node in _nodes(script) if isinstance(node, ast.Call)
            for item in node.args if isinstance(item, ast.Starred)}  # fmt: skip


def _case_rows(text: str) -> list[Any]:
    """The rows of a JSON or JSONL text; none when it is neither."""
    try:
        return _table(plain.decode_tags(json.loads(text)))
    except ValueError:
        pass
    rows: list[Any] = []
    for line in text.split("\n"):
        try:
            rows.append(plain.decode_tags(json.loads(line)))
        except ValueError:
            continue
    return rows


def _table(value: Any) -> list[Any]:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        for key in _TABLES:
            if isinstance(fields.get(key), list):
                return fields[key]
        inputs, outputs = fields.get("inputs"), fields.get("outputs")
        if isinstance(inputs, list) and isinstance(outputs, list):
            pairs = zip(cast("list[Any]", inputs), cast("list[Any]", outputs), strict=False)
            return [{"input": given, "output": wanted} for given, wanted in pairs]
        return [fields]
    return cast("list[Any]", value) if isinstance(value, list) else []


def cases_of(
    rows: Iterable[Any], parameters: Sequence[str], *, whole: bool = False
) -> Iterator[Call]:
    """The calls of rows that are understood; others are left out.

    `parameters` are the function's, in order; empty when they are not known. `whole`: an `input` is
    always the only argument.
    """
    for row in rows:
        call = _call(row, parameters, whole=whole)
        if call is not None:
            yield call


def _call(row: Any, parameters: Sequence[str], *, whole: bool) -> Call | None:
    if isinstance(row, (list, tuple)):
        pair = cast("Sequence[Any]", row)
        if len(pair) != 2:
            return None
        return _arguments(pair[0], pair[1], parameters, whole=whole)
    fields = record_of(row)
    if not fields or "raises" in fields:
        return None
    expected = next((fields[key] for key in _EXPECTED if key in fields), _MISSING)
    kwargs: Any = fields.get("kwargs", {})
    for key in _INPUTS:
        if key in fields and key not in parameters:
            if key == "args" and isinstance(fields[key], (list, tuple)):
                return in_order(Call(tuple(fields[key]), kwargs, _or_none(expected)), parameters)
            return _arguments(fields[key], _or_none(expected), parameters, whole=whole)
    if kwargs and isinstance(kwargs, dict):
        return in_order(Call((), cast("dict[str, Any]", kwargs), _or_none(expected)), parameters)
    given = {name: fields[name] for name in parameters if name in fields}
    if given and expected is not _MISSING:
        return in_order(Call((), given, expected), parameters)
    return None


def _or_none(value: Any) -> Any:
    return None if value is _MISSING else value


def _arguments(given: Any, expected: Any, parameters: Sequence[str], *, whole: bool) -> Call:
    """One value that may stand for all arguments."""
    if isinstance(given, dict) and parameters and set(cast("Any", given)) <= set(parameters):
        return in_order(Call((), cast("dict[str, Any]", given), expected), parameters)
    if isinstance(given, (list, tuple)) and not whole:
        items = tuple(cast("Sequence[Any]", given))
        spread = isinstance(given, tuple) or (len(items) == len(parameters) != 1)
        if spread or (len(items) == len(parameters) == 1 and isinstance(items[0], (list, dict))):
            return Call(items, {}, expected)
    return Call(cast("tuple[Any, ...]", (given,)), {}, expected)


def in_order(call: Call, parameters: Sequence[str]) -> Call:
    """The call with keywords as positional arguments, where the parameters' order says how."""
    names = parameters[len(call.args) :][: len(call.kwargs)]
    if not call.kwargs or set(names) != set(call.kwargs):
        return call
    return Call((*call.args, *(call.kwargs[name] for name in names)), {}, call.expected)


def _calls_in_source(script: str, entry: str, parameters: Sequence[str]) -> list[Call]:
    """Calls that stand in the verifier: tables of literals, and calls with literal arguments."""
    nodes = _nodes(script)
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            rows = _literal(node.value)
            if isinstance(rows, (list, tuple)) and rows:
                calls = list(cases_of(cast("Sequence[Any]", rows), parameters))
                if len(calls) == len(cast("Sequence[Any]", rows)):
                    return calls
            if isinstance(rows, dict) and rows:
                items = list(cast("dict[Any, Any]", rows).items())
                return list(cases_of([list(item) for item in items], parameters))
    found: list[Call] = []
    for node in nodes:
        if isinstance(node, ast.Call) and name_of_call(node) == entry and not node.keywords:
            args = _literal(ast.Tuple(node.args, ast.Load()))
            if args is not _MISSING and args:
                found.append(Call(tuple(args)))
    return found


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _MISSING
