"""Repositories are read by the git program, and nothing of theirs is obeyed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from unhack.core.errors import UsageError
from unhack.sandbox.workspace.git_objects import GitObjects

ENVIRON = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b.c",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b.c",
}


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, env=ENVIRON, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for number, text in enumerate(("one\n", "two\r\n", "three")):
        (folder / "a file.txt").write_bytes(text.encode())
        (folder / f"f{number}").write_bytes(b"\0\n\xff")
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", text.strip())
    return folder


def test_commits_come_newest_first_with_their_parents(project: Path) -> None:
    with GitObjects(project) as reader:
        found = reader.commits("HEAD", most=10)
        assert [one.id for one in found] == git(project, "rev-list", "HEAD").split()
        assert [one.parent for one in found] == [*(one.id for one in found[1:]), ""]
        assert len(reader.commits("main", most=2)) == 2


def test_contents_are_byte_for_byte(project: Path) -> None:
    with GitObjects(project) as reader:
        first, second, _ = reader.commits("HEAD", most=3)
        tree = reader.tree(second.id)
        assert sorted(tree) == ["a file.txt", "f0", "f1"]
        found = reader.contents(entry.id for entry in tree.values())
        assert found[tree["a file.txt"].id] == b"two\r\n"
        assert found[tree["f0"].id] == b"\0\n\xff"
        assert reader.contents([]) == {}
        assert "f2" in reader.tree(first.id)


def test_names_are_branches_tags_and_short_ids(project: Path) -> None:
    git(project, "tag", "-a", "v1", "-m", "x", "HEAD~1")
    git(project, "pack-refs", "--all")
    older = git(project, "rev-parse", "HEAD~1")
    with GitObjects(project) as reader:
        for name in ("v1", older, older[:8]):
            assert reader.commit_id(name) == older
        for name in ("nothing", "../../HEAD", "--all", "HEAD~1", "v1 --upload-pack=x"):
            with pytest.raises(UsageError, match="no commit"):
                reader.commit_id(name)


def test_a_bare_repository_and_a_linked_work_tree_are_read(project: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(project), "bare.git")
    git(project, "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    for place in ("bare.git", "linked"):
        with GitObjects(tmp_path / place) as reader:
            assert reader.head == git(project, "rev-parse", "HEAD")
            assert len(reader.commits("HEAD", most=9)) == 3


def test_a_shallow_history_ends_where_it_was_cut(project: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{project}", "shallow")
    with GitObjects(tmp_path / "shallow") as reader:
        assert len(reader.commits("HEAD", most=9)) == 2


def test_a_repository_with_long_ids_is_read(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "x")
    with GitObjects(tmp_path) as reader:
        assert len(reader.commits("HEAD", most=1)[0].id) == 64


def test_settings_hooks_filters_and_replaced_objects_of_a_repository_do_nothing(
    project: Path, tmp_path: Path
) -> None:
    flag = tmp_path / "flag"
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\ntouch {flag}\ncat\n")
    script.chmod(0o755)
    newest, older = git(project, "rev-parse", "HEAD", "HEAD~1").split()
    git(project, "replace", newest, older)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "filter.f.smudge", "core.editor",
                "core.sshCommand", "uploadpack.packObjectsHook"):  # fmt: skip
        git(project, "config", key, str(script))
    git(project, "config", "alias.ls-tree", f"!{script}")
    git(project, "config", "core.hooksPath", str(tmp_path))
    (project / ".git/info").mkdir(exist_ok=True)
    (project / ".git/info/attributes").write_text("* filter=f diff=f\n")
    (project / ".git/info/grafts").write_text(f"{newest}\n")
    before = sorted(str(path) for path in (project / ".git").rglob("*"))
    with GitObjects(project) as reader:
        found = reader.commits("HEAD", most=9)
        assert len(found) == 3
        tree = reader.tree(found[0].id)
        assert reader.contents([tree["a file.txt"].id]) == {tree["a file.txt"].id: b"three"}
    assert not flag.exists()
    assert before == sorted(str(path) for path in (project / ".git").rglob("*"))


def test_what_is_no_repository_gets_a_clear_error(tmp_path: Path, project: Path) -> None:
    with pytest.raises(UsageError, match="is no git repository"):
        GitObjects(tmp_path)
    with GitObjects(project) as reader, pytest.raises(UsageError, match="lacks the object"):
        reader.contents(["0" * 40])
    git(tmp_path, "init", "-q", "empty")
    with GitObjects(tmp_path / "empty") as reader, pytest.raises(UsageError, match="no commit"):
        reader.commits("HEAD", most=1)
