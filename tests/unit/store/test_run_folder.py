"""What every run folder holds, whatever the run."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from unhack.core.errors import UsageError
from unhack.store.errors import StoreError
from unhack.store.files import write_whole
from unhack.store.run_folder import RunFolder


class TestHolding:
    def test_a_missing_folder_is_made(self, tmp_path: Path) -> None:
        with RunFolder(tmp_path / "a" / "b", kind="test") as folder:
            assert folder.path.is_dir()

    def test_a_second_writer_is_refused_until_the_first_is_done(self, tmp_path: Path) -> None:
        with RunFolder(tmp_path, kind="test"):
            with pytest.raises(StoreError, match="another process is at work"):
                RunFolder(tmp_path, kind="test")
            RunFolder(tmp_path, kind="test", read_only=True).close()
        RunFolder(tmp_path, kind="test").close()

    def test_a_refused_folder_is_not_held(self, tmp_path: Path) -> None:
        RunFolder(tmp_path, kind="test").close()
        with pytest.raises(UsageError, match="another kind"):
            RunFolder(tmp_path, kind="other")
        RunFolder(tmp_path, kind="test").close()

    def test_closing_twice_is_harmless(self, tmp_path: Path) -> None:
        folder = RunFolder(tmp_path, kind="test")
        folder.close()
        folder.close()

    def test_a_place_that_cannot_be_a_folder_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        with pytest.raises(StoreError, match="file"):
            RunFolder(tmp_path / "file" / "run", kind="test")


class TestTheFormat:
    def test_a_later_version_is_refused(self, tmp_path: Path) -> None:
        RunFolder(tmp_path, kind="test").close()
        path = tmp_path / "format.json"
        path.write_text(json.dumps({**json.loads(path.read_bytes()), "version": 2}))
        for read_only in (False, True):
            with pytest.raises(StoreError, match="version 2"):
                RunFolder(tmp_path, kind="test", read_only=read_only)

    @pytest.mark.parametrize("text", ["", "[]", '{"kind": 1}', '{"kind": "test"}', "\xff"])
    def test_a_damaged_mark_is_said(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "format.json").write_text(text, encoding="latin-1")
        with pytest.raises(StoreError, match="damaged"):
            RunFolder(tmp_path, kind="test")

    def test_a_folder_without_a_mark_is_taken_and_marked_by_its_writer_alone(
        self, tmp_path: Path
    ) -> None:
        RunFolder(tmp_path, kind="test", read_only=True).close()
        assert list(tmp_path.iterdir()) == []
        RunFolder(tmp_path, kind="test").close()
        assert json.loads((tmp_path / "format.json").read_bytes())["kind"] == "test"


class TestLogs:
    def test_half_a_line_is_passed_over_by_a_reader_and_cut_off_by_a_writer(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "log").write_bytes(b"one\ntwo\nthr")
        with RunFolder(tmp_path, kind="test", read_only=True) as folder:
            assert folder.lines("log") == [b"one", b"two"]
        assert (tmp_path / "log").read_bytes() == b"one\ntwo\nthr"
        with RunFolder(tmp_path, kind="test") as folder:
            assert folder.lines("log") == [b"one", b"two"]
            folder.append("log", b"three\n")
            assert folder.lines("log") == [b"one", b"two", b"three"]
            assert folder.lines("none") == []

    def test_a_full_disk_leaves_no_half_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = os.write

        def little_room(handle: int, data: memoryview) -> int:
            if len(data) < 6:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return whole(handle, data[:3])

        with RunFolder(tmp_path, kind="test") as folder:
            folder.append("log", b"one\n")
            monkeypatch.setattr(os, "write", little_room)
            with pytest.raises(StoreError, match="full"):
                folder.append("log", b"two, three\n")
            monkeypatch.undo()
            folder.append("log", b"four\n", sync=True)
            assert folder.lines("log") == [b"one", b"four"]

    def test_they_go_back_to_their_lengths(self, tmp_path: Path) -> None:
        with RunFolder(tmp_path, kind="test") as folder:
            folder.append("log", b"one\n")
            lengths = folder.lengths(["log"])
            folder.append("log", b"two\n")
            folder.cut_back(lengths)
            assert folder.lines("log") == [b"one"]
            with pytest.raises(StoreError, match="shorter"):
                folder.cut_back({"log": 5})


class TestFiles:
    def test_a_replaced_file_leaves_nothing_beside_it(self, tmp_path: Path) -> None:
        for content in (b"one", b"two"):
            write_whole(tmp_path / "kept", content)
        assert [path.name for path in tmp_path.iterdir()] == ["kept"]
        assert (tmp_path / "kept").read_bytes() == b"two"

    def test_one_that_cannot_be_written_stays_as_it_was(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(handle: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with RunFolder(tmp_path, kind="test") as folder:
            folder.write("note", b"old")
            monkeypatch.setattr(os, "fsync", full)
            with pytest.raises(StoreError, match="full; what is stored is safe"):
                folder.write("note", b"new")
            monkeypatch.undo()
            assert folder.read("note") == b"old"
            assert folder.read("none") is None
        assert sorted(path.name for path in tmp_path.iterdir()) == ["format.json", "lock", "note"]
