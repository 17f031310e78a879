"""Commands run in an image: its files, its users, and nothing of the host."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from unhack.sandbox.images.store import ImageStore
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import Command, CommandResult, shell
from unhack.sandbox.workspace.image_root import ImageRoot
from unhack.sandbox.workspace.states import WorkspaceState
from unhack.sandbox.workspace.tree import Removed, StoredFile, StoredLink

from .layouts import entry, shell_image, tar_of

pytestmark = pytest.mark.slow
LIMITS = Limits(wall_s=60, cpu_s=60, memory_bytes=256 * MIB, disk_bytes=32 * MIB)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> ImageRoot:
    top = tmp_path_factory.mktemp("images")
    more = tar_of([entry("data", None), entry("data/a", b"one\n"), entry("data/b", b"two\n"),
                   entry("secret", b"s\n", mode=0o600)])  # fmt: skip
    made = shell_image(top / "layout", more, Env=["GREETING=hello", "PATH=/usr/bin"])
    return ImageStore(top / "images").take(made, key="shell")


@pytest.fixture
def as_ann(tmp_path: Path) -> ImageRoot:
    made = shell_image(tmp_path / "layout", User="ann")
    return ImageStore(tmp_path / "images").take(made, key="ann")


def run(
    image: ImageRoot, *commands: Command | str, limits: Limits = LIMITS
) -> tuple[CommandResult, WorkspaceState]:
    """The last command's result and state, each command on what the one before has left."""
    return list(results(image, *commands, limits=limits))[-1]


def results(
    image: ImageRoot, *commands: Command | str, limits: Limits
) -> Iterator[tuple[CommandResult, WorkspaceState]]:
    async def main() -> list[tuple[CommandResult, WorkspaceState]]:
        found: list[tuple[CommandResult, WorkspaceState]] = []
        async with CommandPool(slots=1, image=image) as pool:
            state = pool.states.untouched()
            for one in commands:
                command = shell(one) if isinstance(one, str) else one
                result, state = await pool.run(state, command, limits=limits)
                found.append((result, state))
        return found

    yield from asyncio.run(main())


@pytest.mark.sample
def test_a_command_sees_the_image_alone(root: ImageRoot) -> None:
    result, _ = run(root, "echo $GREETING $HOME; pwd; id -u; cat /data/a; ls /")
    first, *seen = result.stdout.split("\n")
    assert (first, seen[:3]) == ("hello /root", ["/work", "0", "one"])
    listed = set(seen[3:]) - {""}
    assert listed <= {"bin", "data", "dev", "etc", "home", "lib", "lib64", "logs", "proc", "root",
                      "secret", "sys", "tmp", "usr", "work"}  # fmt: skip


def test_what_a_command_leaves_anywhere_is_the_next_state(root: ImageRoot) -> None:
    result, state = run(
        root,
        "echo new > /etc/new; rm /data/a; ln -s /data/b link; mkdir -p /srv/x; touch /tmp/t",
        "cat /etc/new; ls /data /srv; cat link; ls /tmp",
    )
    assert result.stdout == "new\n/data:\nb\n\n/srv:\nx\ntwo\nt\n"
    changed = state.changes()
    assert changed["data/a"] == Removed()
    assert changed["work/link"] == StoredLink("/data/b")
    assert isinstance(changed["etc/new"], StoredFile)
    assert "srv/x" in changed


def test_a_working_directory_that_no_layer_has_is_made(tmp_path: Path) -> None:
    made = shell_image(tmp_path / "layout", WorkingDir="/not/there")
    image = ImageStore(tmp_path / "images").take(made, key="it")
    result, state = run(image, "pwd; touch x", "ls /not/there")
    assert result.stdout == "x\n"
    assert set(state.changes()) == {"not/there/x"}


def test_an_image_is_never_changed(root: ImageRoot) -> None:
    run(root, "echo spoilt > /data/a; rm -rf /data/b /usr/bin/cat")
    result, state = run(root, "cat /data/a /data/b")
    assert result.stdout == "one\ntwo\n"
    assert state.changes() == {}


def test_a_state_of_many_commands_is_as_deep_as_one_of_few(root: ImageRoot) -> None:
    steps = [f"echo {n} >> /data/a; rm -f /tmp/{n - 1}; touch /tmp/{n}" for n in range(40)]
    result, state = run(root, *steps, "cat /data/a; ls /tmp")
    assert result.stdout.split() == ["one", *map(str, range(40)), "39"]
    assert len(state.layers) <= 31


def test_no_file_of_the_host_and_no_process_is_in_sight(root: ImageRoot) -> None:
    words = "ls /proc | grep -c '^[0-9]'; cat /proc/1/environ /proc/self/mountinfo"
    result, _ = run(root, words)
    assert int(result.stdout.split()[0]) <= 5
    for secret in (str(Path.cwd()), str(Path.home()), ".layers", ".old"):
        assert f" {secret}" not in result.stdout, secret


@pytest.mark.parametrize(
    "attempt",
    [
        "chown 65536:65536 /data/a",
        "echo 1 > /proc/sys/kernel/panic",
        "echo x > /dev/null && chmod 600 /dev/null",
        "mkdir /m && mount -t tmpfs none /m",
        "cat /proc/1/mem",
        "ls /proc/1/root/",
        "echo 0 > /proc/1/oom_score_adj",
        "ls -d /.layers /.image /.step /.proc",
        "cat /proc/kcore > /tmp/k",
        "echo core > /proc/sys/kernel/core_pattern",
    ],
)
def test_root_of_an_image_is_nobody_on_the_host(root: ImageRoot, attempt: str) -> None:
    result, _ = run(root, attempt)
    assert result.exit_code != 0


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user has one id for all")
def test_users_of_an_image_are_kept_apart(root: ImageRoot) -> None:
    result, _ = run(
        root,
        "echo mine > /home/ann/f; chown 1000:1000 /home/ann/f; chmod 600 /home/ann/f",
        "stat -c %u:%g /home/ann /home/ann/f /secret",
    )
    assert result.stdout.split() == ["1000:1000", "1000:1000", "0:0"]


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user has one id for all")
def test_a_command_is_run_by_the_images_user(as_ann: ImageRoot) -> None:
    result, _ = run(as_ann, "id -u; id -G; touch ~/own; stat -c %u ~/own; echo no > /etc/passwd")
    assert result.stdout.split()[:4] == ["1000", "1000", "50", "1000"]
    assert "denied" in result.stderr
    result, _ = run(as_ann, Command(("id", "-u"), as_root=True))
    assert result.stdout == "0\n"


def test_a_folder_can_be_kept_from_being_written_to(root: ImageRoot) -> None:
    command = Command(
        ("bash", "-c", "rm /data/a; echo x > /data/b; mv /data /else; cat /data/*; echo y > /own"),
        read_only=("data",),
    )
    result, state = run(root, command)
    assert result.stdout == "one\ntwo\n"
    assert set(state.changes()) == {"own"}


def test_a_tool_writes_as_the_folders_owner(root: ImageRoot) -> None:
    async def main() -> str:
        async with CommandPool(slots=1, image=root) as pool:
            states = pool.states
            state = states.edited(states.untouched(), {"home/ann/n": b"1", "data/a": b"2"})
            words = shell("stat -c %u:%a /home/ann /home/ann/n /data /data/a; cat /data/a")
            result, _ = await pool.run(state, words, limits=LIMITS)
            return result.stdout

    ann = "1000" if os.geteuid() == 0 else "0"
    expected = [f"{ann}:755", f"{ann}:644", "0:755", "0:644", "2"]
    assert asyncio.run(main()).split() == expected


def test_the_disk_of_a_command_is_bounded(root: ImageRoot) -> None:
    words = "for n in 1 2 3 4 5 6 7 8 9; do cat /usr/bin/* /usr/bin/* > /data/$n; done"
    result, state = run(root, words, limits=LIMITS.with_(disk_bytes=16 * MIB))
    assert "No space left" in result.stderr
    sizes = [one.size for one in state.changes().values() if isinstance(one, StoredFile)]
    assert 0 < sum(sizes) <= 16 * MIB


def test_what_the_kernel_shows_cannot_be_moved_away(root: ImageRoot) -> None:
    for name in ("proc", "dev", "sys"):
        result, _ = run(
            root, f"mv /{name} /gone || rm -rf /{name} || ln -sfn / /{name}; ls /{name}"
        )
        assert "busy" in result.stderr
