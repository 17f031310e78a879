from __future__ import annotations

import errno
import json
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unhack.sandbox.linux import calls, landlock

pytestmark = [
    pytest.mark.skipif(landlock.abi_version() == 0, reason="this kernel has no Landlock"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),
]


def restricted(ruleset: int, *actions: Callable[[], object]) -> list[str]:
    """How each action ends in a child that holds itself to `ruleset`: "ok" or the errno's name."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        ends: list[str] = []
        try:
            calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
            landlock.restrict(ruleset)
            for action in actions:
                try:
                    action()
                    ends.append("ok")
                except OSError as error:
                    ends.append(errno.errorcode[error.errno or 0])
            os.write(write_end, json.dumps(ends).encode())
        finally:
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    os.close(ruleset)
    return json.loads(data)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("open", "closed", "scratch"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("content")
    return tmp_path


def _reads(path: Path) -> Callable[[], Any]:
    return path.read_text


def _writes(path: Path) -> Callable[[], Any]:
    return lambda: path.write_text("changed")


class TestPaths:
    def test_only_what_lies_beneath_a_readable_path_can_be_read(self, tree: Path) -> None:
        ruleset = landlock.create_ruleset(readable=[str(tree / "open")])
        ends = restricted(
            ruleset,
            _reads(tree / "open" / "file"),
            lambda: os.listdir(tree / "open"),
            _reads(tree / "closed" / "file"),
            lambda: os.listdir(tree / "closed"),
            lambda: os.listdir(tree),
        )
        assert ends == ["ok", "ok", "EACCES", "EACCES", "EACCES"]

    def test_readable_is_not_writable(self, tree: Path) -> None:
        ruleset = landlock.create_ruleset(readable=[str(tree / "open")])
        ends = restricted(
            ruleset,
            _writes(tree / "open" / "file"),
            _writes(tree / "open" / "new"),
            (tree / "open" / "file").unlink,
            (tree / "open" / "made").mkdir,
            lambda: (tree / "open" / "link").symlink_to("x"),
        )
        assert ends == ["EACCES"] * 5

    def test_a_writable_directory_takes_files_and_directories(self, tree: Path) -> None:
        scratch = tree / "scratch"
        ruleset = landlock.create_ruleset(readable=[], writable=[str(scratch)])
        ends = restricted(
            ruleset,
            _writes(scratch / "new"),
            _reads(scratch / "new"),
            (scratch / "made").mkdir,
            lambda: (scratch / "new").rename(scratch / "moved"),
            (scratch / "moved").unlink,
        )
        assert ends == ["ok"] * 5

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root may make device nodes at all")
    def test_no_device_node_is_made_even_where_writing_is_allowed(self, tree: Path) -> None:
        scratch = str(tree / "scratch")
        ruleset = landlock.create_ruleset(readable=[], writable=[scratch])
        device = os.makedev(1, 3)
        ends = restricted(
            ruleset,
            lambda: os.mknod(f"{scratch}/char", 0o600 | 0o020000, device),
            lambda: os.mknod(f"{scratch}/block", 0o600 | 0o060000, device),
            lambda: os.mkfifo(f"{scratch}/pipe"),
        )
        assert ends == ["EACCES", "EACCES", "ok"]

    def test_a_single_file_can_be_readable(self, tree: Path) -> None:
        ruleset = landlock.create_ruleset(readable=[str(tree / "open" / "file")])
        ends = restricted(
            ruleset, _reads(tree / "open" / "file"), lambda: os.listdir(tree / "open")
        )
        assert ends == ["ok", "EACCES"]

    def test_a_missing_path_raises_before_anything_is_restricted(self, tree: Path) -> None:
        with pytest.raises(FileNotFoundError):
            landlock.create_ruleset(readable=[str(tree / "absent")])

    def test_files_run_only_where_the_ruleset_says_executable(self, tree: Path) -> None:
        def run() -> None:
            os.execv("/bin/true", ["true"])

        ruleset = landlock.create_ruleset(readable=["/"])
        assert restricted(ruleset, run) == ["EACCES"]
        pid = os.fork()
        if pid == 0:
            try:
                calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
                landlock.restrict(landlock.create_ruleset(readable=["/"], executable=True))
                run()
            finally:
                os._exit(9)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

    def test_programs_may_write_to_the_sinks_and_others_may_not(self) -> None:
        null = Path("/dev/null")
        programs = landlock.create_ruleset(readable=["/"], executable=True)
        assert restricted(programs, _writes(null)) == ["ok"]
        assert restricted(landlock.create_ruleset(readable=["/"]), _writes(null)) == ["EACCES"]


class TestNetworkAndSignals:
    @pytest.mark.skipif(landlock.abi_version() < 4, reason="TCP rules came with ABI 4")
    def test_no_port_is_bound_and_none_connected_to(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))

        def bind() -> None:
            with socket.socket() as made:
                made.bind(("127.0.0.1", 0))

        def connect() -> None:
            with socket.socket() as made:
                made.connect(listener.getsockname())

        with listener:
            ruleset = landlock.create_ruleset(readable=["/"])
            assert restricted(ruleset, bind, connect) == ["EACCES", "EACCES"]

    @pytest.mark.skipif(landlock.abi_version() < 6, reason="scopes came with ABI 6")
    def test_no_signal_leaves_the_sandbox(self) -> None:
        host = os.getpid()
        ruleset = landlock.create_ruleset(readable=["/"])
        ends = restricted(
            ruleset, lambda: os.kill(host, 0), lambda: os.kill(os.getpid(), signal.SIGCHLD)
        )
        assert ends == ["EPERM", "ok"]

    @pytest.mark.skipif(landlock.abi_version() < 6, reason="scopes came with ABI 6")
    def test_no_abstract_socket_outside_is_reached(self) -> None:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(b"\0unhack-test-%d" % os.getpid())
            listener.listen()

            def connect() -> None:
                with socket.socket(socket.AF_UNIX) as made:
                    made.connect(listener.getsockname())

            ruleset = landlock.create_ruleset(readable=["/"])
            assert restricted(ruleset, connect) == ["EPERM"]


class TestVersions:
    @pytest.mark.slow
    def test_the_rules_also_hold_on_every_older_interface(
        self, tree: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert landlock.abi_version() >= 1
        for abi in range(1, landlock.abi_version() + 1):
            monkeypatch.setattr(landlock, "abi_version", lambda abi=abi: abi)
            ruleset = landlock.create_ruleset(
                readable=[str(tree / "open")], writable=[str(tree / "scratch")]
            )
            ends = restricted(
                ruleset,
                _reads(tree / "open" / "file"),
                _reads(tree / "closed" / "file"),
                _writes(tree / "scratch" / "file"),
                _writes(tree / "open" / "file"),
            )
            assert ends == ["ok", "EACCES", "ok", "EACCES"], abi

    def test_a_kernel_without_landlock_is_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(landlock, "abi_version", lambda: 0)
        with pytest.raises(OSError, match="not available"):
            landlock.create_ruleset(readable=["/"])

    def test_a_restriction_needs_no_new_privileges_set(self) -> None:
        def check() -> int:
            calls.drop_capabilities()
            try:
                landlock.restrict(landlock.create_ruleset(readable=["/"]))
            except OSError as error:
                return error.errno or 0
            return 0

        pid = os.fork()
        if pid == 0:
            os._exit(check())
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == errno.EPERM
