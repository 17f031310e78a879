"""File tools: they show a state as it is, bounded, and lead nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from unhack.environments.actions import (
    ApplyPatch,
    EditFile,
    ListFiles,
    ReadFile,
    SearchText,
    WriteFile,
)
from unhack.environments.files import file_tools
from unhack.environments.observation import Refusal
from unhack.sandbox.workspace.states import StateStore, WorkspaceState

FILES = {
    "README.md": b"# Title\n",
    "pkg/core.py": b"def f():\n    return 1\n",
    "pkg/deep/er/x.py": b"f()\n",
    ".hidden": b"f\n",
    "data.bin": b"\0\1",
    "long.txt": b"\n".join(b"line %d" % n for n in range(1, 5001)),
    "wide.txt": b"w" * 100_000,
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StateStore]:
    made = StateStore(tmp_path)
    yield made
    made.close()


@pytest.fixture
def state(store: StateStore, tmp_path_factory: pytest.TempPathFactory) -> WorkspaceState:
    folder = tmp_path_factory.mktemp("project")
    for path, content in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    (folder / "passwd").symlink_to("/etc/passwd")
    (folder / "out").symlink_to("/etc")
    return store.load_folder(folder)


def test_a_file_is_shown_with_line_numbers(state: WorkspaceState) -> None:
    shown = file_tools.read(state, ReadFile("./pkg/core.py"))
    assert shown.text == "     1\tdef f():\n     2\t    return 1"


def test_part_of_a_file_says_which_part(state: WorkspaceState) -> None:
    shown = file_tools.read(state, ReadFile("long.txt", start=4990, lines=5))
    assert shown.text.splitlines()[0] == "  4990\tline 4990"
    assert shown.text.splitlines()[-1] == "[lines 4990 to 4994 of 5000]"
    assert shown.cut == 6


def test_what_is_shown_is_bounded(state: WorkspaceState) -> None:
    wide = file_tools.read(state, ReadFile("wide.txt"))
    assert len(wide.text) < 3000
    assert "98000 characters cut" in wide.text
    everything = file_tools.read(state, ReadFile("long.txt", lines=10**9))
    assert len(everything.text) <= file_tools.MAX_SHOWN + 100
    assert everything.cut > 0


def test_binary_files_are_named_and_not_shown(state: WorkspaceState) -> None:
    assert "binary" in file_tools.read(state, ReadFile("data.bin")).text


@pytest.mark.parametrize("path", ["passwd", "out/passwd", "nothing", "pkg"])
def test_a_link_is_never_followed(state: WorkspaceState, path: str) -> None:
    shown = file_tools.read(state, ReadFile(path))
    assert shown.refusal is Refusal.NOT_FOUND
    assert "root:" not in shown.text


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "pkg/../../x", "a//b"])
def test_a_path_that_leaves_the_workspace_is_refused(
    store: StateStore, state: WorkspaceState, path: str
) -> None:
    assert file_tools.read(state, ReadFile(path)).refusal is Refusal.BAD_PATH
    assert file_tools.list_files(state, ListFiles(path)).refusal is Refusal.BAD_PATH
    observation, after = file_tools.write(store, state, WriteFile(path, "x"))
    assert observation.refusal is Refusal.BAD_PATH
    assert after is state
    patch = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
    observation, after = file_tools.patch(store, state, ApplyPatch(patch))
    assert observation.refusal in {Refusal.BAD_PATH, Refusal.BAD_PATCH}
    assert after is state


def test_a_folder_is_listed_to_a_depth_with_links_told(state: WorkspaceState) -> None:
    shown = file_tools.list_files(state, ListFiles(depth=2)).text.splitlines()
    assert "passwd -> /etc/passwd" in shown
    assert ".hidden" in shown
    assert "pkg/deep/ …" in shown
    assert "pkg/deep/er/x.py" not in shown
    assert file_tools.list_files(state, ListFiles("pkg/deep")).text == "er/\ner/x.py"


def test_search_finds_lines_in_text_files_alone(state: WorkspaceState) -> None:
    found = file_tools.search(state, SearchText("f()")).text
    assert found == "pkg/core.py:1: def f():\npkg/deep/er/x.py:1: f()"
    assert file_tools.search(state, SearchText("f()", "pkg/deep")).text == "pkg/deep/er/x.py:1: f()"
    many = file_tools.search(state, SearchText("line"))
    assert many.cut == 4800
    assert "[4800 more lines]" in many.text


def test_a_written_file_replaces_a_link_and_what_it_led_to_is_untouched(
    store: StateStore, state: WorkspaceState
) -> None:
    before = Path("/etc/passwd").read_bytes()
    observation, after = file_tools.write(store, state, WriteFile("passwd", "mine"))
    assert observation.ok
    assert after.read("passwd") == b"mine"
    assert Path("/etc/passwd").read_bytes() == before
    observation, after = file_tools.write(store, state, WriteFile("out/x", "mine"))
    assert observation.refusal is Refusal.BAD_PATH
    assert not Path("/etc/x").exists()


def test_a_patch_is_applied_whole_or_not_at_all(store: StateStore, state: WorkspaceState) -> None:
    good = "--- a/pkg/core.py\n+++ b/pkg/core.py\n@@ -2 +2 @@\n-    return 1\n+    return 2\n"
    bad = "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-nothing\n+x\n"
    observation, after = file_tools.patch(store, state, ApplyPatch(good + bad))
    assert (observation.refusal, after) == (Refusal.BAD_PATCH, state)
    observation, after = file_tools.patch(store, state, ApplyPatch(good))
    assert observation.text == "changed pkg/core.py"
    assert after.read("pkg/core.py") == b"def f():\n    return 2\n"


def edited(store: StateStore, text: bytes, action: EditFile) -> tuple[str, bytes | None]:
    """What an edit of a file with this text shows, and the file afterwards."""
    observation, after = file_tools.edit(store, store.load({"a.py": text}), action)
    assert observation.ok == (after.read("a.py") != text)
    return observation.text, after.read("a.py")


def test_a_passage_that_occurs_once_is_replaced_and_shown(store: StateStore) -> None:
    text = b"".join(b"line %d\n" % n for n in range(1, 31))
    said, after = edited(store, text, EditFile("./a.py", "line 15\nline 16", "one\ntwo\nthree"))
    assert after == text.replace(b"line 15\nline 16", b"one\ntwo\nthree")
    lines = said.splitlines()
    assert lines[0] == "edited a.py"
    assert lines[1] == "    11\tline 11"
    assert "    17\tthree" in lines
    assert lines[-1] == "[lines 11 to 21 of 31]"


@pytest.mark.parametrize(
    ("text", "old", "words"),
    [
        (b"x = 1\n", "y", "old does not occur in it"),
        (b"def f():\n\treturn 1\n", "def f():\n    return 1",
         "does not occur in it; but for white space it stands at line 1"),
        (b"a\r\nb\r\n", "a\nb", "but for white space it stands at line 1"),
        (b"a\n\n  if x:\n    y\n", "if x:\n    z", "its beginning stands at line 3"),
        (b"a\nb\na\n", "a", "old occurs 2 times, at lines 1, 3; give more around it"),
        (b"aaa\n", "aa", "old occurs 2 times, at lines 1, 1"),
        (b"a\n" * 90, "a", "old occurs 90 times, at lines 1, 2, 3, 4, 5, …"),
    ],
)  # fmt: skip
def test_an_edit_that_does_not_fit_says_how_often_and_where(
    store: StateStore, text: bytes, old: str, words: str
) -> None:
    said, after = edited(store, text, EditFile("a.py", old, "new"))
    assert words in said
    assert after == text


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (b"a\nb\n", 0, b"new\na\nb\n"),
        (b"a\nb\n", 1, b"a\nnew\nb\n"),
        (b"a\nb", 2, b"a\nb\nnew\n"),
        (b"", 0, b"new\n"),
    ],
)
def test_lines_are_inserted_behind_a_line(
    store: StateStore, text: bytes, line: int, expected: bytes
) -> None:
    assert edited(store, text, EditFile("a.py", new="new", insert_line=line))[1] == expected


@pytest.mark.parametrize(
    ("action", "refusal"),
    [
        (EditFile("a.py"), Refusal.BAD_ACTION),
        (EditFile("a.py", "a", "a"), Refusal.BAD_ACTION),
        (EditFile("a.py", "a", "b", 1), Refusal.BAD_ACTION),
        (EditFile("a.py", insert_line=3, new="x"), Refusal.BAD_PATCH),
        (EditFile("none.py", "a", "b"), Refusal.NOT_FOUND),
        (EditFile("d", "a", "b"), Refusal.NOT_FOUND),
        (EditFile("../a.py", "a", "b"), Refusal.BAD_PATH),
        (EditFile("/etc/passwd", "root", "b"), Refusal.BAD_PATH),
    ],
)
def test_an_edit_that_cannot_be_made_changes_nothing(
    store: StateStore, action: EditFile, refusal: Refusal
) -> None:
    state = store.load({"a.py": b"a\n", "d/x": b""})
    observation, after = file_tools.edit(store, state, action)
    assert (observation.refusal, after) == (refusal, state)


def test_bytes_that_are_no_text_stay_as_they_are_around_an_edit(store: StateStore) -> None:
    assert edited(store, b"\xff\r\nx\r\n", EditFile("a.py", "x", "y"))[1] == b"\xff\r\ny\r\n"
