"""Calls of known tools are actions, change nothing, or are refused with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from unhack.environments.players.foreign_tools import NoActionError, action_for


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("bash_command", {"keystrokes": "ls\n", "duration": 1.0}, ("shell", {"command": "ls\n"})),
        ("execute_bash", {"command": "ls", "is_input": "false", "timeout": 9},
         ("shell", {"command": "ls"})),
        ("terminal", {"command": "ls", "is_input": False, "reset": False},
         ("shell", {"command": "ls"})),
        ("Bash", {"command": "ls", "description": "List"}, ("shell", {"command": "ls"})),
        ("bash", {"command": "ls"}, ("shell", {"command": "ls"})),
        ("exec_command", {"cmd": "ls", "workdir": "/app/a b", "yield_time_ms": 1},
         ("run", {"command": "cd '/app/a b' || exit\nls"})),
        ("shell", {"command": ["bash", "-lc", "echo $X"]},
         ("run", {"command": "bash -lc 'echo $X'"})),
        ("run_shell_command", {"command": "ls", "directory": ""}, ("run", {"command": "ls"})),
        ("file_editor", {"command": "view", "path": "/app/a.py", "view_range": [3, 5]},
         ("view", {"path": "a.py", "start": 3, "lines": 3})),
        ("str_replace_editor", {"command": "view", "path": "/app/", "view_range": [3, -1]},
         ("view", {"path": "", "start": 3, "lines": 1 << 30})),
        ("str_replace_editor", {"command": "create", "path": "/app/a", "file_text": ""},
         ("write", {"path": "a", "text": ""})),
        ("str_replace_based_edit_tool",
         {"command": "str_replace", "path": "/app/a", "old_str": "x"},
         ("edit", {"path": "a", "old": "x"})),
        ("file_editor", {"command": "insert", "path": "/app/a", "insert_line": 2, "new_str": "x",
                         "old_str": None}, ("edit", {"path": "a", "insert_line": 2, "new": "x"})),
        ("Read", {"file_path": "/app/a", "offset": 4, "limit": 9},
         ("read", {"path": "a", "start": 4, "lines": 9})),
        ("write_file", {"file_path": "/application/a", "content": "x"},
         ("write", {"path": "/application/a", "text": "x"})),
        ("Edit", {"file_path": "/app/a", "old_string": "x", "new_string": "", "replace_all": False},
         ("edit", {"path": "a", "old": "x", "new": ""})),
        ("edit", {"filePath": "/app/a", "oldString": "x", "newString": "y"},
         ("edit", {"path": "a", "old": "x", "new": "y"})),
        ("list_directory", {"dir_path": "/app/d"}, ("list", {"path": "d"})),
    ],
)  # fmt: skip
def test_a_call_of_a_known_tool_is_an_action(
    name: str, arguments: dict[str, Any], action: tuple[str, dict[str, Any]]
) -> None:
    assert action_for(name, arguments, workdir="/app") == action


def test_bash_is_a_new_shell_where_the_agent_makes_one_for_every_call() -> None:
    call = ("bash", {"command": "ls"})
    assert action_for(*call, agent="mini-swe-agent") == ("run", {"command": "ls"})
    assert action_for(*call, agent="openhands") == ("shell", {"command": "ls"})


def test_absolute_paths_stay_without_a_folder_that_stands_for_the_workspace() -> None:
    assert action_for("Read", {"file_path": "/app/a"}) == ("read", {"path": "/app/a"})


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("think", {"thought": "x"}), ("TodoWrite", {"todos": [1]}), ("Grep", {"pattern": "x"}),
     ("finish", {"message": "x"}), ("mark_task_complete", {}),
     ("bash_command", {"keystrokes": "", "duration": 60}), ("execute_bash", {"command": " "})],
)  # fmt: skip
def test_a_call_that_changes_no_file_is_passed_over(name: str, arguments: dict[str, Any]) -> None:
    assert action_for(name, arguments) is None


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("fly", {}, "no action stands for it"),
        ("apply_patch", {"input": "*** Begin Patch"}, "no action stands for it"),
        ("str_replace_editor", {"command": "undo_edit", "path": "a"}, "no action stands for it"),
        ("str_replace_editor", {"path": "a"}, "no action stands for it"),
        ("bash_command", {"keystrokes": "y"}, "keys for a program"),
        ("bash_command", {"keystrokes": "C-c\n"}, "keys for a program"),
        ("execute_bash", {"command": "y", "is_input": "true"}, "its argument 'is_input'"),
        ("Bash", {"command": "serve", "run_in_background": True}, "'run_in_background'"),
        ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": True},
         "'replace_all'"),
        ("Bash", {}, "needs 'command'"),
        ("Read", {"file_path": 3}, "must be of type string"),
        ("Write", {"file_path": "a", "content": "x\0"}, "NUL"),
    ],
)  # fmt: skip
def test_a_call_that_no_action_stands_for_says_why(
    name: str, arguments: dict[str, Any], why: str
) -> None:
    with pytest.raises(NoActionError, match=why):
        action_for(name, arguments)
