from __future__ import annotations

import errno
import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import UsageError
from unhack.store.errors import StoreError, storing
from unhack.store.events import chain
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

    def test_a_line_that_a_crash_cut_off_is_written_again(self, tmp_path: Path) -> None:
        path = _filled(tmp_path / "run")
        log, head = path / "events.jsonl", path / "head.json"
        whole, newest = log.read_bytes(), head.read_bytes()
        for left in (whole[:-20], b"".join(whole.splitlines(keepends=True)[:2])):
            log.write_bytes(left)
            _head_of(path, 2)
            with Ledger(path, read_only=True) as reader:
                assert len(reader.events) == 3
            Ledger(path).close()
            assert (log.read_bytes(), head.read_bytes()) == (whole, newest)

    @pytest.mark.parametrize("kept", [0, 1, 2, -20, -1])
    @pytest.mark.parametrize("read_only", [True, False])
    def test_lines_that_nobody_s_crash_took_are_missed(
        self, tmp_path: Path, kept: int, read_only: bool
    ) -> None:
        log = _filled(tmp_path / "run") / "events.jsonl"
        whole = log.read_bytes()
        lines = whole.splitlines(keepends=True)
        log.write_bytes(b"".join(lines[:kept]) if kept >= 0 else whole[:kept])
        with pytest.raises(StoreError, match="the log was cut"):
            Ledger(tmp_path / "run", read_only=read_only)

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

    def test_a_file_system_that_is_read_only_is_said(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="read-only; choose a folder"), storing(tmp_path):
            raise OSError(errno.EROFS, "Read-only file system", str(tmp_path))

    def test_a_damaged_database_is_said(self, tmp_path: Path) -> None:
        path = _filled(tmp_path / "run")
        (path / "state.sqlite").write_bytes(b"no database at all, but long enough" * 40)
        with pytest.raises(StoreError, match="damaged"):
            Ledger(path)


def _head_of(path: Path, number: int) -> None:
    """Put the head back to an earlier event, as a crash leaves it."""
    line = json.loads((path / "events.jsonl").read_bytes().splitlines()[number - 1])
    (path / "head.json").write_text(json.dumps({"n": number, "hash": line["hash"]}) + "\n")


def _run_sql(path: Path, *commands: str) -> None:
    with sqlite3.connect(path / "state.sqlite") as base:
        for command in commands:
            base.execute(command)
    base.close()


def _edit(path: Path, name: str, old: bytes, new: bytes) -> None:
    data = (path / name).read_bytes()
    assert old in data
    (path / name).write_bytes(data.replace(old, new, 1))


EDITS: dict[str, Any] = {
    "a value": lambda p: _run_sql(p, "UPDATE value SET json = '7' WHERE key = 'number'"),
    "a value's layout": lambda p: _run_sql(p, "UPDATE value SET json = ' 2' WHERE key = 'number'"),
    "a value's type": lambda p: _run_sql(p, "UPDATE value SET json = '2.0'"),
    "an older value put back": lambda p: _run_sql(p, "UPDATE value SET json = '1'"),
    "a value removed": lambda p: _run_sql(p, "DELETE FROM value"),
    "a value added": lambda p: _run_sql(p, "INSERT INTO value VALUES ('more', '1')"),
    "the last event of the database": lambda p: _run_sql(p, "DELETE FROM event WHERE n = 3"),
    "the first event of the database": lambda p: _run_sql(p, "DELETE FROM event WHERE n = 1"),
    "an event of the database": lambda p: _run_sql(
        p, "UPDATE event SET line = replace(line, 'step', 'stop') WHERE n = 2"
    ),
    "a byte of the log": lambda p: _edit(p, "events.jsonl", b'"kind":"step"', b'"kind":"stop"'),
    "white space in the log": lambda p: _edit(p, "events.jsonl", b'"n":2', b'"n": 2'),
    "the head": lambda p: _edit(p, "head.json", b'"n": 3', b'"n": 2'),
    "white space in the head": lambda p: _edit(p, "head.json", b'"n": 3', b'"n":  3'),
    "no head": lambda p: (p / "head.json").unlink(),
    "an empty head": lambda p: (p / "head.json").write_bytes(b""),
    "no log": lambda p: (p / "events.jsonl").unlink(),
    "the secret": lambda p: (p / "secret").write_bytes(b"y" * 32),
    "no secret": lambda p: (p / "secret").unlink(),
    "the last event of log and database": lambda p: (
        _run_sql(p, "DELETE FROM event WHERE n = 3"),
        _cut(p, 2),
    ),
    "the last event of log, database and head": lambda p: (
        _run_sql(p, "DELETE FROM event WHERE n = 3"),
        _cut(p, 2),
        _head_of(p, 2),
    ),
}


def _cut(path: Path, kept: int) -> None:
    lines = (path / "events.jsonl").read_bytes().splitlines(keepends=True)
    (path / "events.jsonl").write_bytes(b"".join(lines[:kept]))


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_what_is_stored_is_seen(tmp_path: Path, edit: str, read_only: bool) -> None:
    path = _filled(tmp_path / "run")
    EDITS[edit](path)
    with pytest.raises(StoreError):
        Ledger(path, read_only=read_only)


def test_taking_back_the_newest_event_everywhere_shows_in_the_head_alone(tmp_path: Path) -> None:
    path = _filled(tmp_path / "run")
    with Ledger(path, read_only=True) as run:
        kept, before = run.head, run.events[1].hash
    _run_sql(path, "DELETE FROM event WHERE n = 3", "UPDATE value SET json = '1'")
    _cut(path, 2)
    _head_of(path, 2)
    with Ledger(path, read_only=True) as run:
        assert kept not in [event.hash for event in run.events]
        assert run.head == before


def test_a_reader_sees_the_values_of_one_moment(tmp_path: Path) -> None:
    with (
        Ledger(_filled(tmp_path / "run")) as run,
        Ledger(tmp_path / "run", read_only=True) as reader,
    ):
        run.change("step", {"number": 9, "other": 1})
        assert reader.get("number") == 2
        assert list(reader.under("")) == ["number"]
        assert reader.get("other") is None


def test_a_ledger_from_before_values_were_bound_opens_and_says_so(tmp_path: Path) -> None:
    path = _filled(tmp_path / "run")
    last = None
    lines: list[bytes] = []
    for number in range(3):
        last = chain(last, time=1.0, kind="step", data={"number": number})
        lines.append(last.line())
    (path / "events.jsonl").write_bytes(b"".join(lines))
    (path / "head.json").unlink()
    with sqlite3.connect(path / "state.sqlite") as base:
        for number, line in enumerate(lines, start=1):
            base.execute("UPDATE event SET line = ? WHERE n = ?", (line, number))
    base.close()
    with Ledger(path, read_only=True) as reader:
        assert reader.unbound == ("number",)
    with Ledger(path) as run:
        run.change("step", {"number": 3}, number=3)
    with Ledger(path) as run:
        assert (run.unbound, run.get("number")) == ((), 3)
    _run_sql(path, "UPDATE value SET json = '7'")
    with pytest.raises(StoreError, match="not the one that was stored"):
        Ledger(path)


_KILLED = """
import os, signal, sys
from pathlib import Path
from unhack.store import files, ledger, state
left = int(sys.argv[2])
def counted(work):
    def call(*args, **named):
        global left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return work(*args, **named)
    return call
for name in ("fsync", "write", "replace", "open", "close"):
    setattr(os, name, counted(getattr(os, name)))
state.StoredState.change = counted(state.StoredState.change)
with ledger.create_ledger(Path(sys.argv[1])) as run:
    for number in range(3):
        run.change("step", {"number": number}, number=number)
print(left)
"""
_POINTS = [*range(62)]
_SLOW = (pytest.mark.slow, pytest.mark.sample)


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(point, marks=_SLOW[: 2 if point == 41 else point not in (7, 19, 28, 33)])
        for point in _POINTS
    ],
)
def test_a_kill_at_any_point_leaves_a_ledger_that_goes_on(tmp_path: Path, point: int) -> None:
    path = tmp_path / "run"
    command = [sys.executable, "-c", _KILLED, str(path), str(point)]
    done = subprocess.run(command, capture_output=True, timeout=300, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    try:
        opened = Ledger(path)
    except UsageError:  # it was killed before there was a run
        opened = create_ledger(path)
    with opened as run:
        count = len(run.events)
        assert run.get("number") == (count - 1 if count else None)
        run.change("step", {"number": count}, number=count)
    with Ledger(path, read_only=True) as reader:
        assert [event.data["number"] for event in reader.events] == list(range(count + 1))
