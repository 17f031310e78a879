"""The tools of known agents, and the action that stands for a call of each.

    action_for("str_replace_editor", {"command": "view", "path": "/app/a.py"}, workdir="/app")
    # ("view", {"path": "a.py"}), which is `read` of a file and `list` of a folder

Calls that think, plan, search or end the run change no file, and are passed over by name. An
argument that changes what a call does and has no like here makes it a gap, as an unknown tool is.

Covered: names and arguments as of Harbor 0.26's agents.
Not covered: keys for a program that runs, answers to it, calls in the background, Codex's
`apply_patch`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from unhack.environments.actions import KINDS, RefusedActionError, parse_action

ENDS = frozenset({"finish", "submit", "mark_task_complete", "task_complete", "attempt_completion"})
"""Calls by which an agent says that it is done."""
VIEW = "view"
"""In place of an action: `read` of a file, `list` of a folder."""
_NO_CHANGE = ENDS | {
    "think", "task_tracker", "update_plan", "TodoWrite", "TodoRead", "todowrite", "todoread",
    "Glob", "Grep", "glob", "grep", "search_file_content", "WebSearch", "WebFetch", "web_search",
    "google_web_search", "web_fetch",
}  # fmt: skip
_STARTS_ANEW = frozenset({"mini-swe-agent", "opencode", "pi"})
"""Agents whose tool `bash` is a new shell for every call."""
_TOOLS = {
    tool: kind
    for kind, tools in {
        "shell": "bash_command execute_bash terminal Bash bash",
        "run": "exec_command shell local_shell run_shell_command",
        "read": "Read read_file read",
        "list": "LS list_directory list",
        "write": "Write write_file write",
        "edit": "Edit replace edit",
    }.items()
    for tool in tools.split()
}
_EDITORS = frozenset({"str_replace_editor", "str_replace_based_edit_tool", "file_editor"})
_EDITOR_COMMANDS = {"view": "read", "create": "write", "str_replace": "edit", "insert": "edit"}
_FIELDS = {
    "command": "command cmd keystrokes",
    "path": "path file_path filePath absolute_path dir_path",
    "text": "content file_text text",
    "old": "old_str old_string oldString",
    "new": "new_str new_string newString insert_text",
    "start": "offset",
    "lines": "limit",
}
"""The names that the arguments of an action have elsewhere."""
_WORKDIRS = ("workdir", "cwd", "directory")
_WITHOUT_EFFECT = frozenset({
    "timeout", "timeout_ms", "duration", "description", "explanation", "security_risk",
    "yield_time_ms", "max_output_tokens", "login", "justification", "summary",
})  # fmt: skip
_NOTHING = ("False", "false", "", "[]", "{}")


class NoActionError(Exception):
    """No action stands for a call; its text is the reason."""


def action_for(
    name: str, arguments: Mapping[str, Any], *, agent: str = "", workdir: str = ""
) -> tuple[str, dict[str, Any]] | None:
    """The action of a recorded call; None where it changes no file. `workdir`: the folder that
    stands for the workspace in absolute paths of files. Raises NoActionError."""
    if name in _NO_CHANGE:
        return None
    left = {key: value for key, value in arguments.items() if value is not None}
    kind = _TOOLS.get(name, "")
    if name in _EDITORS:
        kind = _EDITOR_COMMANDS.get(str(left.pop("command", "")), "")
    elif name == "bash" and agent in _STARTS_ANEW:
        kind = "run"
    if not kind:
        raise NoActionError("no action stands for it")
    found: dict[str, Any] = {}
    for field in fields(KINDS[kind]):
        for one in _FIELDS.get(field.name, field.name).split():
            if one in left:
                found[field.name] = left.pop(one)
    match left.pop("view_range", None):
        case [int(first), int(last)]:
            found |= {"start": first, "lines": last - first + 1 if last > 0 else 1 << 30}
        case _:
            pass
    if "command" in found:
        found["command"] = _command(found["command"], left, keys="keystrokes" in arguments)
        if not found["command"].strip():
            return None
    if isinstance(found.get("path"), str):
        found["path"] = _inside(found["path"], workdir)
    strange = [
        key
        for key, value in left.items()
        if key not in _WITHOUT_EFFECT and str(value) not in _NOTHING
    ]
    if strange:
        raise NoActionError(f"its argument {strange[0]!r} has no like here")
    try:
        parse_action(kind, found)
    except RefusedActionError as error:
        raise NoActionError(str(error)) from None
    return (VIEW if name in _EDITORS and kind == "read" else kind), found


def _command(said: object, left: dict[str, Any], *, keys: bool) -> str:
    """The script of a command: words are joined, and a folder of its own is gone to first."""
    words = cast("list[object] | str", said)
    text = shlex.join(map(str, words)) if isinstance(words, list) else str(words)
    if keys and text.strip() and (not text.endswith("\n") or text.startswith(("C-", "M-"))):
        raise NoActionError("keys for a program that runs")
    for name in _WORKDIRS:
        if where := left.pop(name, None):
            text = f"cd {shlex.quote(str(where))} || exit\n{text}"
    return text


def _inside(path: str, workdir: str) -> str:
    """A path relative to the workspace, where it is in it."""
    if workdir and f"{path}/".startswith(f"{workdir.rstrip('/')}/"):
        return path[len(workdir.rstrip("/")) :].strip("/")
    return path
