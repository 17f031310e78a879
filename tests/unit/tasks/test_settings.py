"""`task.toml`: what it may say, and what an error says."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from unhack.core.errors import TaskError
from unhack.sandbox.limits import Limits
from unhack.tasks.settings import OPTIONS, LimitsTable, TaskKind, read_settings
from unhack.verifiers.function import FunctionVerifier
from unhack.verifiers.stdio import StdioVerifier
from unhack.verifiers.text import TextVerifier

FUNCTION = 'id = "steps"\nkind = "function"\nentry_point = "step"\n'


def read(folder: Path, text: str):
    path = folder / "task.toml"
    path.write_text(text)
    return read_settings(path)


def complaint(folder: Path, text: str) -> str:
    with pytest.raises(TaskError) as caught:
        read(folder, text)
    return str(caught.value).replace(f"{folder}/", "")


def test_three_keys_make_a_function_task(tmp_path: Path):
    settings, options = read(tmp_path, FUNCTION)
    assert (settings.id, settings.kind, settings.entry_point) == ("steps", "function", "step")
    assert options == OPTIONS[TaskKind.FUNCTION]()


def test_without_an_id_the_directory_names_it(tmp_path: Path):
    (tmp_path / "steps").mkdir()
    settings, _ = read(tmp_path / "steps", 'kind = "script"\n')
    assert settings.id == "steps"


def test_limits_that_are_named_replace_the_defaults_and_no_others(tmp_path: Path):
    table = "[limits]\nwall_s = 2\nprocesses = 3\nwall_hard_s = 9\n"
    settings, _ = read(tmp_path, FUNCTION + table)
    assert settings.limits.over(Limits()) == Limits(wall_s=2.0, processes=3, wall_hard_s=9.0)


def test_every_limit_can_be_set():
    assert set(LimitsTable.model_fields) == {field.name for field in fields(Limits)}


@pytest.mark.parametrize(
    ("kind", "verifier"),
    [
        (TaskKind.FUNCTION, FunctionVerifier),
        (TaskKind.STDIO, StdioVerifier),
        (TaskKind.TEXT, TextVerifier),
    ],
)
def test_every_option_of_a_verifier_can_be_set_and_has_its_default(kind, verifier):
    elsewhere = {"entry_point", "cases", "checker", "limits"}
    if kind == "stdio":
        elsewhere |= {"setup", "checker_limits"}  # loaders of data sets give them
    known = {field.name: field.default for field in fields(verifier)}
    options = OPTIONS[kind].model_fields
    assert set(options) == set(known) - elsewhere
    for name, option in options.items():
        if not option.is_required():
            assert option.default == known[name], name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FUNCTION + 'titel = "x"\n', "task.toml:4: unknown key 'titel'; did you mean title"),
        (
            FUNCTION + '\n[verifier]\ncompair = "exact"\n',
            "task.toml:6: unknown key in [verifier] 'compair'; did you mean compare?",
        ),
        (
            FUNCTION + '\n[verifier]\n\ncompare = "exakt"\n',
            "task.toml:7: unknown compare 'exakt'; did you mean exact?",
        ),
        ('id = "a"\nkind = "functoin"\n', "task.toml:2: unknown kind 'functoin'; did you mean fun"),
        ('id = "a"\n', "task.toml: the key `kind` is missing"),
        ('id = "a"\nkind = "function"\n', 'task.toml: kind = "function" needs `entry_point`'),
        (
            'id = "a"\nkind = "stdio"\nentry_point = "f"\n',
            'task.toml:3: `entry_point` has no meaning for kind = "stdio"',
        ),
        ('id = "a"\nkind = "text"\n[verifier]\n', "task.toml:3: the key `check` in [verifier] is"),
        (
            FUNCTION + "[limits]\nwall_s = 0\n",
            "task.toml:5: `wall_s` in [limits] should be greater",
        ),
        (FUNCTION + "[limits]\nwall_s = nan\n", "task.toml:5: `wall_s` in [limits] should be"),
        (FUNCTION + '[limits]\nwall_s = "10"\n', "task.toml:5: `wall_s` in [limits] should be a v"),
        (FUNCTION + "[limits]\nmemory_bytes = 1.5\n", "task.toml:5: `memory_bytes` in [limits]"),
        (
            FUNCTION + "limits = { cpu = 1 }\n",
            "task.toml:4: unknown key in [limits] 'cpu'; did you",
        ),
        ('id = "two words"\nkind = "stdio"\n', "task.toml:1: id 'two words' may hold letters"),
        ('id = "a#1"\nkind = "stdio"\n', "task.toml:1: id 'a#1' may hold letters"),
        ('id = "a"\nkind = "function"\nentry_point = "a b"\n', "task.toml:3: entry_point 'a b' is"),
        (
            FUNCTION + "[verifier]\nrel_tol = 1e-6\n",
            'task.toml:5: `rel_tol` needs compare = "float"',
        ),
        (
            'id = "a"\nkind = "stdio"\n[verifier]\nrel_tol = 1e-6\n',
            'task.toml:4: `rel_tol` needs compare = "float" or "lines"',
        ),
        (
            'id = "a"\nkind = "stdio"\n[verifier]\ncompare = "exact"\nignore_case = true\n',
            'task.toml:5: `ignore_case` has no meaning with compare = "exact"',
        ),
        (FUNCTION + "tags = [\n", "task.toml:5: not TOML: Invalid value"),
        (FUNCTION + "tags = 3 4\n", "task.toml:4: not TOML: Expected newline"),
        (
            FUNCTION + 'prompt = """\ntitel = 1\n"""\ntitel = 2\n',
            "task.toml:7: unknown key 'titel'; did you mean title",
        ),
    ],
)
def test_a_mistake_is_reported_with_its_line_and_the_nearest_name(tmp_path: Path, text, expected):
    assert complaint(tmp_path, text).startswith(expected)


def test_all_mistakes_are_reported_at_once(tmp_path: Path):
    lines = complaint(tmp_path, FUNCTION + 'titel = "x"\ntags = 3\n').split("\n")
    assert [line.split(":")[1] for line in lines] == ["5", "4"]


def test_a_file_that_is_not_text_is_reported_with_its_line(tmp_path: Path):
    (tmp_path / "task.toml").write_bytes(b'id = "a"\nkind = "\xff"\n')
    with pytest.raises(TaskError, match=r"task\.toml:2: this is not UTF-8 text"):
        read_settings(tmp_path / "task.toml")


def test_a_missing_file_is_reported(tmp_path: Path):
    with pytest.raises(TaskError, match=r"task\.toml: this file is missing"):
        read_settings(tmp_path / "task.toml")
