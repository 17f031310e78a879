from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import UsageError
from unhack.store.errors import StoreError
from unhack.store.ledger import Ledger, create_ledger
from unhack.store.run_folder import RunFolder
from unhack.store.state import create_state


def _filled(path: Path, count: int = 3) -> Path:
    with create_ledger(path) as run:
        for number in range(count):
            run.change("step", {"number": number}, number=number)
    return path


class TestALedger:
    def test_it_keeps_values_and_events_over_an_opening(self, tmp_path: Path) -> None:
        with Ledger(_filled(tmp_path / "run")) as run:
            assert run.get("number") == 2
            assert run.get("nothing") is None
            assert [event.data["number"] for event in run.events] == [0, 1, 2]
            assert run.head == run.events[-1].hash

    def test_keys_are_listed_by_their_beginning_in_order(self, tmp_path: Path) -> None:
        with create_ledger(tmp_path / "run") as run:
            run.change("step", {"b/2": 2, "a/1": 0, "b/1": 1})
            assert list(run.under("b/").items()) == [("b/1", 1), ("b/2", 2)]

    def test_only_the_owner_reads_the_secret(self, tmp_path: Path) -> None:
        with create_ledger(tmp_path / "run") as run:
            assert len(run.secret) == 32
        mode = (tmp_path / "run" / "secret").stat().st_mode
        assert stat.S_IMODE(mode) == 0o600
        assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o700

    def test_a_given_secret_is_kept(self, tmp_path: Path) -> None:
        with create_ledger(tmp_path / "run", secret=b"x" * 32) as run:
            assert run.secret == b"x" * 32

    def test_a_folder_with_something_in_it_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "note.txt").write_text("mine")
        with pytest.raises(UsageError, match="not empty"):
            create_ledger(tmp_path)
        with pytest.raises(UsageError, match="not empty"):
            create_ledger(_filled(tmp_path / "run"))

    def test_what_a_crash_at_the_very_beginning_leaves_is_taken_over(self, tmp_path: Path) -> None:
        create_ledger(tmp_path / "run").close()
        with create_ledger(tmp_path / "run") as run:
            assert run.events == ()

    def test_a_database_is_there_as_a_whole_or_not_at_all(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def killed(old: Path, new: Path) -> None:
            raise SystemExit

        monkeypatch.setattr("unhack.store.state.os.replace", killed)
        with pytest.raises(SystemExit):
            create_state(tmp_path / "state.sqlite")
        monkeypatch.undo()
        assert not (tmp_path / "state.sqlite").exists()
        with create_ledger(tmp_path) as run:
            assert run.events == ()

    def test_a_folder_without_a_run_is_no_run(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no run"):
            Ledger(tmp_path)

    def test_a_second_writer_is_refused_and_a_reader_is_not(self, tmp_path: Path) -> None:
        with Ledger(_filled(tmp_path / "run")) as first:
            with pytest.raises(StoreError, match="another process"):
                Ledger(tmp_path / "run")
            first.change("step", {"number": 9})
            with Ledger(tmp_path / "run", read_only=True) as reader:
                assert reader.get("number") == 9
                assert len(reader.events) == 4

    def test_one_from_before_formats_were_marked_goes_on(self, tmp_path: Path) -> None:
        path = _filled(tmp_path / "run")
        (path / "format.json").unlink()
        with Ledger(path, read_only=True) as reader:
            assert reader.get("number") == 2
        with Ledger(path) as ledger:
            ledger.change("step", {"number": 3}, number=3)
        with Ledger(path) as ledger:
            assert len(ledger.events) == 4

    def test_the_folder_of_another_kind_of_run_is_refused(self, tmp_path: Path) -> None:
        path = _filled(tmp_path / "run")
        with pytest.raises(UsageError, match="another kind of run"):
            RunFolder(path, kind="audit")


class TestALogThatWasTouched:
    @pytest.mark.parametrize(
        "touch",
        [
            lambda lines: [lines[0].replace(b'"number":0', b'"number":7'), *lines[1:]],
            lambda lines: lines[1:],
            lambda lines: [lines[1], lines[0], lines[2]],
            lambda lines: [*lines, lines[-1]],
            lambda lines: [b"no event\n", *lines],
        ],
        ids=["changed", "removed", "swapped", "added", "garbage"],
    )
    def test_it_is_refused(self, tmp_path: Path, touch: Any) -> None:
        log = _filled(tmp_path / "run") / "events.jsonl"
        log.write_bytes(b"".join(touch(log.read_bytes().splitlines(keepends=True))))
        with pytest.raises(StoreError, match="changed"):
            Ledger(tmp_path / "run")

    def test_a_line_that_was_cut_off_is_written_again(self, tmp_path: Path) -> None:
        log = _filled(tmp_path / "run") / "events.jsonl"
        whole = log.read_bytes()
        log.write_bytes(whole[:-20])
        Ledger(tmp_path / "run").close()
        assert log.read_bytes() == whole

    def test_events_that_a_crash_kept_out_are_appended(self, tmp_path: Path) -> None:
        log = _filled(tmp_path / "run") / "events.jsonl"
        whole = log.read_bytes()
        for kept in (0, 1, 2):
            log.write_bytes(b"".join(whole.splitlines(keepends=True)[:kept]))
            Ledger(tmp_path / "run").close()
            assert log.read_bytes() == whole

    def test_a_database_that_is_older_than_its_log_is_refused(self, tmp_path: Path) -> None:
        path = _filled(tmp_path / "run")
        old = (path / "state.sqlite").read_bytes()
        with Ledger(path) as run:
            run.change("step", {"number": 3}, number=3)
        (path / "state.sqlite").write_bytes(old)
        with pytest.raises(StoreError, match="different stories"):
            Ledger(path)


class TestADiskThatFails:
    def test_a_full_disk_is_said_and_what_is_stored_is_safe(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(handle: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with Ledger(_filled(tmp_path / "run")) as run:
            monkeypatch.setattr(os, "fsync", full)
            with pytest.raises(StoreError, match="full; what is stored is safe"):
                run.change("step", {"number": 3}, number=3)
            monkeypatch.undo()
            with pytest.raises(StoreError, match="full"):
                run.change("step", {"number": 4}, number=4)
        with Ledger(tmp_path / "run") as run:
            assert run.get("number") == 3
            assert [event.data["number"] for event in run.events] == [0, 1, 2, 3]

    def test_a_folder_without_permission_is_said(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def forbidden(path: Path) -> bytes:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))

        path = _filled(tmp_path / "run")
        monkeypatch.setattr(Path, "read_bytes", forbidden)
        with pytest.raises(StoreError, match="no permission"):
            Ledger(path)

    def test_a_damaged_database_is_said(self, tmp_path: Path) -> None:
        path = _filled(tmp_path / "run")
        (path / "state.sqlite").write_bytes(b"no database at all, but long enough" * 40)
        with pytest.raises(StoreError, match="damaged"):
            Ledger(path)
