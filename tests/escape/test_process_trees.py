"""What an agent tries against the walls of its workspace, each program named as the claim it
tests; run outside, the same program gets through, so that the check can fail.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from unhack.sandbox import rootfs
from unhack.sandbox.workspace.process_tree import ProcessTree, ProcessTreePlan

PROGRAMS = sorted((Path(__file__).parent / "process_tree_programs").glob("cannot_*.py"))
PYTHON = rootfs.inside(rootfs.interpreter())
PLAN = {"memory_bytes": 256 << 20, "disk_bytes": 32 << 20, "processes": 60}
WITHOUT_A_CONTROL = {"cannot_gain_rights", "cannot_use_more_disk_than_it_may"}
"""What they do to a host without walls does not bear repeating."""


@dataclass(frozen=True)
class Ground:
    """What there is to reach."""

    arguments: list[str]
    key: str


@pytest.fixture(scope="module")
def ground() -> Generator[Ground]:
    """A secret file, a key in the host's environment, a server on every address, a victim."""
    content, key = secrets.token_hex(16), secrets.token_hex(16)
    name = f"unhack-escape-{secrets.token_hex(8)}"
    with (
        tempfile.TemporaryDirectory(prefix="unhack-escape-") as folder,
        socket.create_server(("0.0.0.0", 0), backlog=64) as server,
        socket.socket(socket.AF_UNIX) as abstract,
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as victim,
    ):
        secret = Path(folder) / "secret"
        secret.write_text(content)
        Path(folder).chmod(0o755)
        abstract.bind(f"\0{name}")
        abstract.listen()
        port = str(server.getsockname()[1])
        arguments = [str(secret), content, key.encode().hex(), port, _address(), name]
        os.environ["UNHACK_TEST_KEY"] = key
        try:
            yield Ground([*arguments, str(victim.pid)], key)
        finally:
            del os.environ["UNHACK_TEST_KEY"]
            victim.kill()


def _address() -> str:
    """An address of this machine that is not loopback, where it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return probe.getsockname()[0]


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("ESCAPED")]


def inside(program: Path, arguments: list[str]) -> str:
    """What a program prints in a process tree; it has to come to its end."""
    plan = ProcessTreePlan(workspace={"program.py": program.read_bytes()}, **PLAN)
    command = [PYTHON, "-I", "/workspace/program.py", *arguments]
    with ProcessTree(command, plan=plan) as tree:
        said = b""
        while True:
            data = os.read(tree.stdout, 1 << 16)
            if not data:
                break
            said += data
        errors = os.read(tree.stderr, 1 << 16).decode()
        assert tree.wait(timeout_s=60)
        assert tree.exit_status is not None
        assert tree.exit_status.exit_code == 0, errors
    return said.decode()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_an_agent(program: Path, ground: Ground) -> None:
    assert lines(inside(program, ground.arguments)) == []


@pytest.mark.sample
@pytest.mark.control
@pytest.mark.parametrize(
    "program",
    [path for path in PROGRAMS if path.stem not in WITHOUT_A_CONTROL],
    ids=lambda path: path.stem,
)
@pytest.mark.slow
def test_without_walls_the_program_gets_through(program: Path, ground: Ground) -> None:
    done = subprocess.run(
        [sys.executable, "-I", str(program), *ground.arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "see_other" not in program.stem:  # that one may have ended the victim
        assert done.returncode == 0, done.stderr
    assert lines(done.stdout) != []


@pytest.mark.slow
def test_memory_beyond_its_limit_ends_it_and_not_the_host() -> None:
    code = "data = [b'x' * (1 << 20) for _ in range(2000)]; print('ESCAPED')"
    with ProcessTree([PYTHON, "-I", "-c", code], plan=ProcessTreePlan(**PLAN)) as tree:
        assert tree.wait(timeout_s=120)
        assert tree.exit_status is not None
        assert tree.exit_status.exit_code != 0
        assert os.read(tree.stdout, 100) == b""


@pytest.mark.parametrize(
    "command",
    [
        "ln -s {secret} solution.py",
        "mkdir d && ln -s {folder} d/solution.d && ln -s /proc/self/root/etc/passwd solution.py",
        "mkfifo solution.py",
        "ln {secret} solution.py || ln /usr/bin/env solution.py || ln -s ~ solution.py",
    ],
)
def test_what_is_no_regular_file_is_not_taken(command: str, ground: Ground) -> None:
    secret = ground.arguments[0]
    line = command.format(secret=secret, folder=str(Path(secret).parent))
    with ProcessTree(["/bin/sh", "-c", line], plan=ProcessTreePlan(**PLAN)) as tree:
        assert tree.wait(timeout_s=60)
        assert tree.read(("*",), max_files=9, max_bytes=9999) == {}


def test_a_race_of_renames_brings_nothing_of_the_host(ground: Ground) -> None:
    secret = Path(ground.arguments[0])
    line = (
        f"mkdir a; echo own > a/secret; ln -s {secret.parent} b; "
        "while true; do mv a c; mv b a; mv a b; mv c a; done"
    )
    with ProcessTree(["/bin/sh", "-c", line], plan=ProcessTreePlan(**PLAN)) as tree:
        contents: set[bytes] = set()
        for _ in range(300):
            contents |= set(tree.read(("*",), max_files=9, max_bytes=9999).values())
    assert contents <= {b"own\n", b""}
