"""Diffs that `git apply` takes, from the current directory."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from unhack.audit.hardening.copy import unified, with_own_line_ends


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\nb", "a\nB"),
        ("a\r\nb\r\nc\r\n", "a\nB\nc\n"),
        ("a\nb\r\nc\n", "new\na\nb\nC\n"),
        ("a\x0cb\nc\n", "a\x0cb\nC\n"),
    ],
)
@pytest.mark.parametrize("below", [False, True])
def test_git_applies_the_diff_and_other_lines_keep_their_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, after: str, below: bool
) -> None:
    here = tmp_path / "sub" if below else tmp_path
    here.mkdir(exist_ok=True)
    monkeypatch.chdir(here)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    path = here / "reward.py"
    path.write_bytes(before.encode())
    wanted = with_own_line_ends(before, after)
    assert wanted.replace("\r\n", "\n") == after
    assert ("\r\n" in wanted) == ("\r\n" in before)
    patch = unified(path, before, wanted)
    subprocess.run(["git", "apply", "-"], input=patch.encode(), check=True)
    assert path.read_bytes().decode() == wanted


def test_a_new_file_is_made_by_the_diff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True)
    patch = unified(tmp_path / "task.toml", None, "id = 1\n")
    subprocess.run(["git", "apply", "-"], input=patch.encode(), check=True)
    assert (tmp_path / "task.toml").read_text() == "id = 1\n"


def test_nothing_changed_gives_no_diff(tmp_path: Path) -> None:
    assert unified(tmp_path / "a.py", "a\n", "a\n") == ""
