"""Trees of files as values: equal trees have equal digests, changes lead from one to another."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core.errors import UsageError
from unhack.sandbox.workspace.tree import (
    EMPTY,
    Changes,
    Folder,
    NewFolder,
    Removed,
    StoredFile,
    StoredLink,
    changes,
)


def file(text: str, *, mode: int = 0o644, place: str = "") -> StoredFile:
    data = text.encode()
    return StoredFile(hashlib.sha256(data).digest(), len(data), mode, place)


NAMES = st.sampled_from(["a", "b", "c", "d.py", "\udcff"])
NODES = st.recursive(
    st.one_of(
        st.builds(file, st.sampled_from(["", "x", "y"]), mode=st.sampled_from([0o644, 0o755])),
        st.builds(StoredLink, st.sampled_from(["a", "../x"])),
    ),
    lambda inner: st.builds(
        Folder, st.sampled_from([0o755, 0o700]), st.dictionaries(NAMES, inner, max_size=4)
    ),
    max_leaves=12,
)
TREES = st.builds(Folder, st.just(0o755), st.dictionaries(NAMES, NODES, max_size=4))


@pytest.mark.slow
@given(TREES, TREES)
def test_the_changes_between_two_trees_lead_from_one_to_the_other(one: Folder, two: Folder) -> None:
    assert one.with_changes(changes(one, two)).digest == two.digest
    assert changes(two, one.with_changes(changes(one, two))) == {}


@pytest.mark.slow
@given(TREES, TREES)
def test_only_equal_trees_share_a_digest(one: Folder, two: Folder) -> None:
    assert (one.digest == two.digest) == (changes(one, two) == {})


def test_where_a_content_stands_is_no_part_of_a_state() -> None:
    one = EMPTY.with_changes({"a": file("x", place="/1/a")})
    two = EMPTY.with_changes({"a": file("x", place="/2/a")})
    assert one.digest == two.digest
    assert changes(one, two) == {}


@pytest.mark.parametrize(
    "change",
    [
        {"a": file("y")},
        {"a": file("x", mode=0o755)},
        {"a": StoredLink("x")},
        {"a": NewFolder()},
        {"a": Removed()},
        {"b": NewFolder()},
        {"": NewFolder(0o700)},
    ],
)
def test_content_mode_kind_absence_and_empty_folders_all_count(change: Changes) -> None:
    before = EMPTY.with_changes({"a": file("x")})
    after = before.with_changes(change)
    assert before.digest != after.digest
    assert before.digest == EMPTY.with_changes({"a": file("x")}).digest


def test_a_folder_that_is_fresh_hides_what_stood_there() -> None:
    before = EMPTY.with_changes({"d": NewFolder(), "d/x": file("x")})
    kept = before.with_changes({"d": NewFolder(0o700)})
    fresh = before.with_changes({"d": NewFolder(0o755, fresh=True)})
    assert [path for path, _ in kept.walk()] == ["d", "d/x"]
    assert [path for path, _ in fresh.walk()] == ["d"]


@pytest.mark.parametrize("path", ["../x", "/x", "a//b", "a/./b", "a/../../x", "x\0y"])
def test_a_path_that_leaves_the_tree_is_refused(path: str) -> None:
    with pytest.raises(UsageError):
        EMPTY.find(path)
    with pytest.raises(UsageError):
        EMPTY.with_changes({path: file("x")})


def test_a_file_holds_no_files() -> None:
    with pytest.raises(UsageError, match="no folder"):
        EMPTY.with_changes({"a": file("x"), "a/b": file("y")})
