"""The command line of a bubblewrap process."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from unhack.core.errors import UsageError
from unhack.sandbox.bubblewrap import bwrap_process
from unhack.sandbox.guest.server import fork_server
from unhack.sandbox.job import Job, Kind, Profile, Role
from unhack.sandbox.limits import Limits
from unhack.sandbox.linux import cgroups
from unhack.sandbox.rootfs import interpreter


def words_after(command: list[str], option: str) -> list[str]:
    return [command[index + 1] for index, word in enumerate(command) if word == option]


def test_root_gets_no_user_namespace_because_its_map_would_hold_root() -> None:
    words = bwrap_process.namespace_arguments(as_root=True)
    assert "--unshare-user" not in words
    assert words_after(words, "--cap-drop") == ["ALL"]
    kept = ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_SYS_ADMIN"]
    assert words_after(words, "--cap-add") == kept


def test_an_ordinary_user_is_nobody_inside() -> None:
    words = bwrap_process.namespace_arguments(as_root=False)
    assert "--unshare-user" in words
    assert words_after(words, "--uid") == words_after(words, "--gid") == ["65534"]


@pytest.mark.parametrize("as_root", [True, False])
def test_bubblewrap_never_shares_a_namespace(as_root: bool) -> None:
    words = bwrap_process.namespace_arguments(as_root=as_root)
    for name in ("ipc", "pid", "net", "uts"):
        assert f"--unshare-{name}" in words
    assert not [word for word in words if "share-net" in word and not word.startswith("--un")]


@pytest.mark.parametrize("kind", list(Kind))
def test_the_interpreter_and_its_loader_are_in_every_root(kind: Kind) -> None:
    plan = bwrap_process.blueprint("bwrap", Profile(kind=kind))
    binds = [
        plan.command[index + 2] for index, word in enumerate(plan.command) if word == "--ro-bind"
    ]
    assert any(interpreter() == path or interpreter().startswith(f"{path}/") for path in binds)
    assert plan.command[-4:] == ["--remount-ro", "/", "--chdir", "/"]


def test_nothing_of_the_host_is_mounted_writable() -> None:
    assert len(Kind) > 1
    for kind in Kind:
        command = bwrap_process.blueprint("bwrap", Profile(kind=kind)).command
        assert "--bind" not in command
        assert all(path.startswith("/dev/") for path in words_after(command, "--dev-bind"))


def test_the_package_itself_is_hidden_from_candidates_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    site = tmp_path / "site-packages"
    (site / "unhack").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(site))
    hidden = {
        role: words_after(
            bwrap_process.blueprint("bwrap", Profile(role=role, site_packages=True)).command,
            "--tmpfs",
        )
        for role in Role
    }
    own = os.path.realpath(site / "unhack")
    assert own in hidden[Role.CANDIDATE]
    assert own not in hidden[Role.JUDGE]


def test_a_bind_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(UsageError, match="/no/such"):
        bwrap_process.blueprint("bwrap", Profile(binds=(("/no/such", "/x"),)))


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_job_that_is_not_wanted_any_more_ends_in_its_guest_not_by_a_signal() -> None:
    # A signal that hits bubblewrap while it makes the namespaces leaves a half-made child behind.
    job = Job(b"", Limits())
    plan = bwrap_process.blueprint(shutil.which("bwrap") or "", job.profile)
    tested = bwrap_process.BwrapProcess(plan, 9000, cgroups.Parents())
    ours, theirs = socket.socketpair()
    with ours, theirs:
        tested.hand_over(1, job, flags=0, fds=[theirs.fileno()])
        tested.kill(fork_server.BY_HOST)
        assert tested.control is not None
        tested.control.setblocking(True)
        assert not tested.listen(job)
    assert tested.process is not None
    assert tested.process.wait(60) == 1
    assert tested.close() == ""
    assert tested.running_since == 0
