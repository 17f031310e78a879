"""What a command of an environment tries against its walls, and against the commands after it.

The programs are those that an agent's process tree is tried with; their controls run there.
"""

from __future__ import annotations

import asyncio
import os
import textwrap
from collections.abc import Callable

import pytest
from test_process_trees import PROGRAMS, Ground, ground, lines

from unhack.sandbox.limits import Limits
from unhack.sandbox.rootfs import inside, interpreter
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import Command, CommandResult

__all__ = ["ground"]

LIMITS = Limits(
    wall_s=60, cpu_s=60, memory_bytes=256 << 20, disk_bytes=32 << 20, processes=60, open_files=256,
    file_bytes=64 << 20,
)  # fmt: skip


def run_in_turn(*programs: bytes, arguments: list[str]) -> list[CommandResult]:
    """The results of programs under one supervisor, each on the state that the last one left."""

    async def main() -> list[CommandResult]:
        found: list[CommandResult] = []
        async with CommandPool(slots=1) as pool:
            state = pool.states.load({})
            for program in programs:
                state = pool.states.edited(state, {"program.py": program})
                command = Command((inside(interpreter()), "-I", "program.py", *arguments))
                result, state = await pool.run(state, command, limits=LIMITS)
                found.append(result)
        return found

    return asyncio.run(main())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_command(program: object, ground: Ground) -> None:
    source = program.read_bytes()  # type: ignore[attr-defined]
    [result] = run_in_turn(source, arguments=ground.arguments)
    assert result.exit_code == 0, result.stderr
    assert lines(result.stdout) == []


LEAVES = {
    "an abstract socket": """
        import os, socket, time
        ready, tell = os.pipe()
        if os.fork() == 0:
            os.setsid()
            with socket.socket(socket.AF_UNIX) as one:
                one.bind("\\0left"); one.listen(); os.write(tell, b"x"); time.sleep(50)
        os.read(ready, 1)
    """,
    "a server on a port": """
        import os, socket, time
        ready, tell = os.pipe()
        if os.fork() == 0:
            os.setsid()
            with socket.create_server(("127.0.0.1", 8099)) as one:
                os.write(tell, b"x"); one.accept(); time.sleep(50)
        os.read(ready, 1)
    """,
    "shared memory": """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.shmget(77, 4096, 0o1666) >= 0
        assert libc.msgget(78, 0o1666) >= 0
    """,
    "files outside the workspace": """
        import contextlib, os
        for path in ("/tmp/left", "/dev/shm/left", "/home/agent/left", "/.step/left", "/left",
                     "/.layers/left", "/workspace/../left", "/var/tmp/left", "/dev/left"):
            with contextlib.suppress(OSError):
                open(path, "w").close()
        os.symlink("/", "root")
    """,
    "a process that ignores signals": """
        import os, signal, sys, time
        ready, tell = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork(): os._exit(0)
            for number in range(1, 65):
                try: signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError): pass
            sys.argv[0] = "left-behind"
            os.write(tell, b"x")
            time.sleep(50)
        os.read(ready, 1)
    """,
    "its own limits and name": """
        import os, resource, socket
        resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
        os.nice(19)
        try: socket.sethostname("left")
        except OSError: pass
    """,
}
LOOKS = """
    import ctypes, os, resource, socket
    def escaped(what): print("ESCAPED", what)
    with socket.socket(socket.AF_UNIX) as one:
        try: one.connect("\\0left"); escaped("abstract socket")
        except OSError: pass
    try: socket.create_connection(("127.0.0.1", 8099), 2).close(); escaped("port")
    except OSError: pass
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.shmget(77, 0, 0) >= 0: escaped("shared memory")
    if libc.msgget(78, 0) >= 0: escaped("message queue")
    for path in ("/tmp", "/dev/shm", "/home/agent", "/.step", "/", "/.layers", "/var/tmp", "/dev"):
        if os.path.isdir(path) and "left" in os.listdir(path): escaped(path)
    numbers = [name for name in os.listdir("/proc") if name.isdigit()]
    if len(numbers) > 2: escaped(f"processes {numbers}")
    if os.path.isdir("/.layers") and os.listdir("/.layers"): escaped("layers")
    if os.getpriority(os.PRIO_PROCESS, 0) > PRIORITY: escaped("priority")
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 100: escaped("limits")
    if socket.gethostname() == "left": escaped("name")
""".replace("PRIORITY", str(os.getpriority(os.PRIO_PROCESS, 0)))


@pytest.mark.parametrize("what", LEAVES)
def test_a_command_cannot_leave_for_the_next(what: str) -> None:
    programs = [textwrap.dedent(text).encode() for text in (LEAVES[what], LOOKS)]
    first, second = run_in_turn(*programs, arguments=[])
    assert first.exit_code == 0, first.stderr
    assert second.exit_code == 0, second.stderr
    assert lines(second.stdout) == []


@pytest.mark.control
@pytest.mark.parametrize("what", ["an abstract socket", "a server on a port", "shared memory"])
def test_in_one_command_the_look_finds_it(what: str) -> None:
    both = textwrap.dedent(LEAVES[what]) + textwrap.dedent(LOOKS)
    [result] = run_in_turn(both.encode(), arguments=[])
    assert lines(result.stdout) != []


def attack(code: str) -> Callable[[], list[CommandResult]]:
    return lambda: run_in_turn(textwrap.dedent(code).encode(), arguments=[])


@pytest.mark.parametrize(
    "code",
    [
        # the supervisor's descriptors, its status pipe among them
        "import os\nfor fd in range(3, 300):\n"
        " try: os.fstat(fd); print('ESCAPED', fd)\n except OSError: pass",
        # process 1 and what it holds
        "import os\ntry: print('ESCAPED', os.listdir('/proc/1/fd'))\nexcept OSError: pass",
        "import os\ntry: os.kill(1, 9); os.kill(1, 15)\nexcept OSError: pass",
        # what was mounted to build the workspace
        "import os\nfor p in ('/.step', '/.layers', '/.proc'):\n"
        " if os.path.isdir(p) and os.listdir(p): print('ESCAPED', p)",
        # mounts and namespaces of its own
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "for call in (lambda: libc.unshare(0x10020000), lambda: libc.umount2(b'/workspace', 2),\n"
        "             lambda: libc.mount(b'none', b'/tmp', b'tmpfs', 0, b'')):\n"
        " if call() == 0: print('ESCAPED')",
        # attributes of the overlay that would show what lies below
        "import os\nopen('f', 'w').close()\n"
        "try: os.setxattr('.', 'trusted.overlay.opaque', b'y'); print('ESCAPED')\n"
        "except OSError: pass\n"
        "try: os.mknod('w', 0o020600, os.makedev(1, 3)); print('ESCAPED')\nexcept OSError: pass",
    ],
)
def test_a_command_cannot_reach_what_runs_it(code: str) -> None:
    [result] = attack(code)()
    assert result.limit == ""
    assert lines(result.stdout) == []
