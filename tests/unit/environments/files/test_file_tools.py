"""File tools: they show a state as it is, bounded, and lead nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from unhack.environments.actions import ApplyPatch, ListFiles, ReadFile, SearchText, WriteFile
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
