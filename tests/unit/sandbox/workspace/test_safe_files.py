"""Nothing outside a directory is read, written or removed, whatever stands or happens in it."""

from __future__ import annotations

import errno
import os
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from unhack.sandbox.workspace import safe_files
from unhack.sandbox.workspace.safe_files import (
    SafeWalk,
    open_folder,
    open_regular,
    open_top,
    put_files,
    read_file,
    remove_file,
    remove_files_below,
    take_files,
)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that nobody may touch."""
    made = tmp_path / "outside"
    made.mkdir()
    (made / "answers.txt").write_bytes(b"precious")
    return made


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    made = tmp_path / "inside"
    made.mkdir()
    return made


@pytest.fixture
def top(inside: Path) -> Iterator[int]:
    with open_top(inside) as handle:
        yield handle


@pytest.fixture(autouse=True)
def no_descriptor_is_left() -> Iterator[None]:
    before = len(os.listdir("/proc/self/fd"))
    yield
    assert len(os.listdir("/proc/self/fd")) <= before


def taken(top: int, *, files: int = 99, size: int = 9999) -> dict[str, bytes]:
    return take_files(top, ("*",), max_files=files, max_bytes=size)


def put(top: int, **files: bytes) -> None:
    put_files(top, {k.replace("__", "/"): v for k, v in files.items()}, uid=-1, gid=-1)


def swapped_before(
    monkeypatch: pytest.MonkeyPatch, name: str, swap: Callable[[], None], *, call: str = "open"
) -> None:
    """Let `swap` happen right before `name` is opened, after it was looked at."""
    real: Any = getattr(os, call)

    def late(path: Any, *arguments: Any, **more: Any) -> Any:
        if path == name:
            monkeypatch.undo()
            swap()
        return real(path, *arguments, **more)

    monkeypatch.setattr(safe_files.os, call, late)


class TestWalking:
    def test_it_tells_files_of_all_levels_in_a_fixed_order(self, inside: Path, top: int) -> None:
        for path in ("b/2", "b/1", "a/z/3", "0", "c"):
            (inside / path).parent.mkdir(parents=True, exist_ok=True)
            (inside / path).touch()
        assert [found.path for found in SafeWalk(top)] == ["0", "c", "b/1", "b/2", "a/z/3"]

    def test_a_linked_directory_is_told_and_not_entered(
        self, inside: Path, top: int, outside: Path
    ) -> None:
        (inside / "away").symlink_to(outside)
        [found] = SafeWalk(top)
        assert (found.path, stat.S_ISLNK(found.mode)) == ("away", True)

    def test_a_directory_swapped_for_a_link_after_it_was_listed_is_not_entered(
        self, inside: Path, top: int, outside: Path
    ) -> None:
        (inside / "a").mkdir()
        (inside / "a" / "own").touch()
        (inside / "b").touch()
        walk = iter(SafeWalk(top))
        assert next(walk).path == "b"
        (inside / "a").rename(inside / "c")
        (inside / "a").symlink_to(outside)
        assert list(walk) == []

    def test_a_directory_moved_out_while_it_is_read_stays_the_one_that_was_opened(
        self, inside: Path, top: int, outside: Path
    ) -> None:
        (inside / "a").mkdir()
        (inside / "a" / "answers.txt").write_bytes(b"own")
        opened = 0
        for found in SafeWalk(top):
            (inside / "a").rename(inside / "b")
            (inside / "a").symlink_to(outside)
            file = open_regular(found.folder, found.name)
            assert file is not None
            with file:
                assert file.read() == b"own"
            opened += 1
        assert opened == 1

    def test_it_ends_at_its_bound_of_entries(self, inside: Path, top: int) -> None:
        for number in range(6):
            (inside / str(number)).touch()
        walk = SafeWalk(top, max_entries=4)
        assert len(list(walk)) == 4
        assert walk.truncated
        walk = SafeWalk(top, max_entries=6)
        assert len(list(walk)) == 6
        assert not walk.truncated

    def test_it_lists_no_more_names_than_it_may_look_at(
        self, inside: Path, top: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(50):
            (inside / str(number)).touch()
        asked: list[int] = []
        whole = safe_files.islice
        monkeypatch.setattr(
            safe_files, "islice", lambda names, count: asked.append(count) or whole(names, count)
        )
        list(SafeWalk(top, max_entries=4))
        assert asked == [5]

    def test_it_enters_no_deeper_than_its_bound(self, inside: Path, top: int) -> None:
        (inside / "a" / "b" / "c").mkdir(parents=True)
        for path in ("a/1", "a/b/2", "a/b/c/3"):
            (inside / path).touch()
        assert [found.path for found in SafeWalk(top, max_depth=2)] == ["a/1", "a/b/2"]

    def test_what_vanishes_is_remembered_and_the_rest_is_told(self, inside: Path, top: int) -> None:
        for name in "abc":
            (inside / name).touch()
        walk, told = SafeWalk(top), []
        for found in walk:
            told.append(found.path)
            (inside / "b").unlink(missing_ok=True)
        assert told == ["a", "c"]
        assert walk.changed

    def test_a_directory_that_may_only_be_listed_is_passed_by(
        self, inside: Path, top: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (inside / "shut").mkdir()
        (inside / "shut" / "x").touch()
        (inside / "a").touch()
        real = os.stat

        def stat_of(path: Any, **more: Any) -> os.stat_result:
            if path == "x":
                raise PermissionError(errno.EACCES, "Permission denied")
            return real(path, **more)

        monkeypatch.setattr(safe_files.os, "stat", stat_of)
        walk = SafeWalk(top)
        assert [found.path for found in walk] == ["a"]
        assert not walk.changed

    def test_names_that_are_passed_by_are_neither_told_nor_entered(
        self, inside: Path, top: int
    ) -> None:
        (inside / ".git").mkdir()
        (inside / ".git" / "x").touch()
        (inside / ".hidden").touch()
        walk = SafeWalk(top, passed_by=lambda name: name.startswith("."))
        assert list(walk) == []

    def test_a_name_that_is_no_utf8_is_told_and_read(self, inside: Path, top: int) -> None:
        Path(os.fsdecode(os.fsencode(inside) + b"/\xff.txt")).write_bytes(b"x")
        assert taken(top) == {"\udcff.txt": b"x"}

    def test_the_top_may_be_no_link(self, tmp_path: Path, outside: Path) -> None:
        (tmp_path / "top").symlink_to(outside)
        with pytest.raises(OSError), open_top(tmp_path / "top"):
            pass


class TestReading:
    def test_a_link_in_any_component_is_not_followed(
        self, inside: Path, top: int, outside: Path
    ) -> None:
        (inside / "away").symlink_to(outside)
        (inside / "file").symlink_to(outside / "answers.txt")
        assert read_file(top, "away/answers.txt", max_bytes=99) is None
        assert read_file(top, "file", max_bytes=99) is None
        assert taken(top) == {}

    @pytest.mark.parametrize("path", ["../outside/answers.txt", "a/../../outside/answers.txt"])
    def test_a_path_that_leads_up_is_not_followed(
        self, inside: Path, top: int, outside: Path, path: str
    ) -> None:
        (inside / "a").mkdir()
        assert read_file(top, path, max_bytes=99) is None
        assert open_folder(top, "..") is None

    def test_a_pipe_a_socket_and_a_directory_are_left_out_without_waiting(
        self, inside: Path, top: int
    ) -> None:
        os.mkfifo(inside / "pipe")
        (inside / "folder").mkdir()
        (inside / "file").write_bytes(b"x")
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(inside / "socket"))
            assert taken(top) == {"file": b"x"}
            for name in ("pipe", "socket", "folder", "none"):
                assert read_file(top, name, max_bytes=9) is None

    def test_a_device_is_left_out(self, inside: Path, top: int) -> None:
        try:
            os.mknod(inside / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        except PermissionError:
            pytest.skip("this user makes no devices")
        assert read_file(top, "zero", max_bytes=9) is None
        assert taken(top) == {}

    @pytest.mark.parametrize("other", ["link", "pipe"])
    def test_a_file_swapped_after_it_was_looked_at_is_not_read(
        self,
        inside: Path,
        top: int,
        outside: Path,
        other: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        (inside / "file").write_bytes(b"own")

        def swap() -> None:
            (inside / "file").unlink()
            if other == "link":
                (inside / "file").symlink_to(outside / "answers.txt")
            else:
                os.mkfifo(inside / "file")

        swapped_before(monkeypatch, "file", swap)
        assert read_file(top, "file", max_bytes=99) is None
        assert not (inside / "file").is_file() or (inside / "file").is_symlink()

    def test_a_sparse_giant_is_not_read_whole(self, inside: Path, top: int) -> None:
        with (inside / "giant").open("wb") as file:
            file.truncate(1 << 40)
        assert read_file(top, "giant", max_bytes=100) == bytes(100)
        assert taken(top, size=100) == {}
        named = take_files(top, ("giant", "*"), max_files=9, max_bytes=100)
        assert named == {"giant": bytes(101)}

    def test_what_is_named_whole_is_taken_before_what_a_pattern_admits(
        self, inside: Path, top: int
    ) -> None:
        for name in ("a.py", "b.py", "solution.py", "deep/c.py"):
            (inside / name).parent.mkdir(exist_ok=True)
            (inside / name).write_bytes(b"x")
        found = take_files(top, ("solution.py", "*.py"), max_files=1, max_bytes=100)
        assert set(found) == {"solution.py", "a.py"}
        assert set(take_files(top, ("**/c.py",), max_files=9, max_bytes=9)) == {"deep/c.py"}

    def test_one_file_and_one_byte_more_than_wanted_are_taken(self, inside: Path, top: int) -> None:
        for number in range(9):
            (inside / str(number)).write_bytes(b"x" * 10)
        assert len(taken(top, files=3)) == 4
        assert sum(map(len, taken(top, size=25).values())) == 26

    def test_a_hard_link_can_be_told_from_its_count(
        self, inside: Path, top: int, outside: Path
    ) -> None:
        os.link(outside / "answers.txt", inside / "file")
        file = open_regular(top, "file")
        assert file is not None
        with file:
            assert os.fstat(file.fileno()).st_nlink == 2


class TestWriting:
    def test_files_are_written_and_those_of_bin_can_be_executed(
        self, inside: Path, top: int
    ) -> None:
        put(top, a__b=b"1", bin__tool=b"2")
        assert (inside / "a" / "b").read_bytes() == b"1"
        assert not os.access(inside / "a" / "b", os.X_OK)
        assert os.access(inside / "bin" / "tool", os.X_OK)

    @pytest.mark.parametrize("path", ["../x", "/x", "a//b", ".", "a/./b", ""])
    def test_a_path_that_leaves_is_refused(self, top: int, path: str) -> None:
        with pytest.raises(ValueError, match="no relative path"):
            put_files(top, {path: b""}, uid=-1, gid=-1)

    def test_a_linked_directory_is_not_written_through(
        self, inside: Path, top: int, outside: Path
    ) -> None:
        (inside / "away").symlink_to(outside)
        with pytest.raises(OSError):
            put(top, away__answers=b"x")
        assert os.listdir(outside) == ["answers.txt"]

    def test_a_directory_swapped_for_a_link_after_it_was_made_is_not_written_through(
        self, inside: Path, top: int, outside: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def swap() -> None:
            (inside / "a").rmdir()
            (inside / "a").symlink_to(outside)

        swapped_before(monkeypatch, "a", swap)
        with pytest.raises(OSError):
            put(top, a__answers=b"x")
        assert os.listdir(outside) == ["answers.txt"]

    @pytest.mark.parametrize("kind", ["link", "hard link", "pipe"])
    def test_what_stands_in_the_place_of_a_file_is_not_written_to(
        self, inside: Path, top: int, outside: Path, kind: str
    ) -> None:
        if kind == "link":
            (inside / "file").symlink_to(outside / "answers.txt")
        elif kind == "hard link":
            os.link(outside / "answers.txt", inside / "file")
        else:
            os.mkfifo(inside / "file")
        put(top, file=b"new")
        assert (inside / "file").read_bytes() == b"new"
        assert (outside / "answers.txt").read_bytes() == b"precious"

    def test_a_link_put_in_the_place_of_a_file_at_the_last_moment_is_not_followed(
        self, inside: Path, top: int, outside: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        swap = lambda: (inside / "file").symlink_to(outside / "answers.txt")  # noqa: E731
        swapped_before(monkeypatch, "file", swap)
        with pytest.raises(OSError):
            put(top, file=b"new")
        assert (outside / "answers.txt").read_bytes() == b"precious"


class TestRemoving:
    def test_a_file_goes_and_its_directory_stays(self, inside: Path, top: int) -> None:
        put(top, a__b=b"1", a__c=b"2")
        remove_file(top, "a/b")
        remove_file(top, "a/none")
        remove_file(top, "a")
        assert os.listdir(inside / "a") == ["c"]

    def test_a_link_goes_and_what_it_leads_to_stays(
        self, inside: Path, top: int, outside: Path
    ) -> None:
        (inside / "file").symlink_to(outside / "answers.txt")
        (inside / "away").symlink_to(outside)
        remove_file(top, "file")
        remove_file(top, "away/answers.txt")
        remove_files_below(top, "away")
        assert not (inside / "file").is_symlink()
        assert (outside / "answers.txt").read_bytes() == b"precious"

    def test_everything_below_goes_but_what_links_lead_to(
        self, inside: Path, top: int, outside: Path
    ) -> None:
        put(top, a__b=b"1", a__c__d=b"2", other=b"3")
        (inside / "a" / "away").symlink_to(outside)
        os.mkfifo(inside / "a" / "pipe")
        remove_files_below(top, "a")
        remove_files_below(top, "none")
        assert [found.path for found in SafeWalk(top)] == ["other"]
        assert (outside / "answers.txt").read_bytes() == b"precious"
