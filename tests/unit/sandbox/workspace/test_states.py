"""States of a workspace: forks share everything, edits are exact, nothing is left on the disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from unhack.core.errors import UsageError
from unhack.sandbox.workspace.layers import reap_stale
from unhack.sandbox.workspace.states import MAX_LAYERS, StateStore, WorkspaceState

FILES = {"pkg/__init__.py": b"", "pkg/core.py": b"x = 1\n", "run.sh": b"#!/bin/sh\n"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StateStore]:
    made = StateStore(tmp_path)
    yield made
    made.close()
    assert list(tmp_path.iterdir()) == []


def paths(state: WorkspaceState) -> list[str]:
    return [path for path, _ in state.tree.walk()]


def layers_on_disk(store: StateStore) -> int:
    return len(os.listdir(store.layers.top))


def test_files_are_read_back_with_their_modes(store: StateStore) -> None:
    state = store.load(FILES, executable={"run.sh"})
    assert {path: state.read(path) for path in FILES} == FILES
    modes = {path: one.mode for path, one in state.tree.files().items()}
    assert modes == {"pkg/__init__.py": 0o644, "pkg/core.py": 0o644, "run.sh": 0o755}


def test_equal_trees_have_equal_ids_whatever_led_to_them(store: StateStore) -> None:
    start = store.load(FILES)
    changed = store.edited(start, {"pkg/core.py": b"x = 2\n", "new/deep/file.txt": b""})
    back = store.edited(changed, {"pkg/core.py": b"x = 1\n", "new": None})
    assert changed.id != start.id
    assert back.id == start.id == store.load(FILES).id


def test_an_edit_that_changes_nothing_is_the_same_state(store: StateStore) -> None:
    start = store.load(FILES)
    assert store.edited(start, {"pkg/core.py": b"x = 1\n"}) is start
    assert layers_on_disk(store) == 1


def test_a_fork_goes_its_own_way(store: StateStore) -> None:
    start = store.edited(store.load(FILES), {"notes": b"common"})
    one = store.edited(start, {"notes": b"one"})
    two = store.edited(start, {"notes": b"two"})
    read = [state.read("notes") for state in (start, one, two)]
    assert read == [b"common", b"one", b"two"]


def test_a_written_file_keeps_its_mode(store: StateStore) -> None:
    start = store.load(FILES, executable={"run.sh"})
    after = store.edited(start, {"run.sh": b"#!/bin/sh\necho\n"})
    assert after.tree.files()["run.sh"].mode == 0o755


def test_a_deep_stack_is_flattened_and_stays_equal(store: StateStore) -> None:
    state = store.load(FILES)
    for count in range(2 * MAX_LAYERS):
        state = store.edited(state, {f"made/{count}.txt": b"%d" % count, "last": b"%d" % count})
        assert len(state.layers) <= MAX_LAYERS
    expected = {**FILES, "last": b"%d" % (2 * MAX_LAYERS - 1)}
    expected |= {f"made/{count}.txt": b"%d" % count for count in range(2 * MAX_LAYERS)}
    assert {path: state.read(path) for path in state.tree.files()} == expected
    assert state.id == store.load(expected).id


def test_layers_go_when_nobody_refers_to_them(store: StateStore) -> None:
    start = store.load(FILES)
    after = store.edited(store.edited(start, {"a": b"1"}), {"b": b"2"})
    assert layers_on_disk(store) == 3
    del after
    assert layers_on_disk(store) == 1


@pytest.mark.parametrize(
    "edits", [{"../x": b""}, {"pkg": b""}, {"pkg/core.py/x": b""}, {"absent": None}, {"": b""}]
)
def test_an_edit_that_makes_no_sense_is_refused_and_leaves_nothing(
    store: StateStore, edits: dict[str, bytes | None]
) -> None:
    start = store.load(FILES)
    with pytest.raises(UsageError):
        store.edited(start, edits)
    assert layers_on_disk(store) == 1


def test_a_folder_of_the_host_is_taken_with_modes_links_and_empty_folders(
    store: StateStore, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("project")
    (folder / "empty").mkdir(mode=0o700)
    (folder / "tool").write_text("x")
    (folder / "tool").chmod(0o750)
    (folder / "link").symlink_to("../outside")
    os.mkfifo(folder / "pipe")
    state = store.load_folder(folder)
    assert paths(state) == ["empty", "link", "tool"]
    assert state.tree.files()["tool"].mode == 0o750
    assert state.read("link") is None


def test_a_file_that_its_owner_may_not_read_is_read_all_the_same(
    store: StateStore, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("project")
    (folder / "d").mkdir()
    (folder / "d" / "secret").write_text("x")
    (folder / "d" / "secret").chmod(0)
    (folder / "d").chmod(0)
    state = store.load_folder(folder)
    (folder / "d").chmod(0o700)
    assert state.read("d/secret") == b"x"
    assert state.tree.files()["d/secret"].mode == 0
    place = Path(state.tree.files()["d/secret"].place)
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0


def test_the_stores_of_hosts_that_are_gone_are_removed(tmp_path: Path) -> None:
    left = tmp_path / "unhack-workspaces-999999999-1-abc"
    (left / "1").mkdir(parents=True)
    (tmp_path / "something-else").mkdir()
    alive = StateStore(tmp_path)
    assert reap_stale(tmp_path) == []
    assert not left.exists()
    assert (tmp_path / "something-else").exists()
    assert Path(alive.layers.top).exists()
    alive.close()
