"""A sealed tree with a card, real namespaces and a stand-in for the card's node.

The stand-in proves that the node is there and nothing else is; what a card does is proved on one
(`sandbox.gpu.claims`).
"""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from unhack.core.errors import SandboxUnavailableError, UsageError
from unhack.sandbox.gpu import memory_watch, process
from unhack.sandbox.gpu.cards import Card
from unhack.sandbox.gpu.memory_watch import MemoryWatch, resident_bytes
from unhack.sandbox.gpu.process import GpuLimits, GpuProcess, GpuProcessError, GpuRoom
from unhack.sandbox.linux.cgroups import find_parents
from unhack.sandbox.linux.processes import tree_of
from unhack.sandbox.rootfs import inside, interpreter

LIMITS = GpuLimits(memory_bytes=256 << 20, disk_bytes=16 << 20, processes=32)
ANSWER = "import os, socket; peer = socket.socket(fileno=3)\n"


@pytest.fixture
def card(tmp_path: Path) -> Generator[Card]:
    """A node like /dev/null, at a place where no other node is."""
    node = f"/dev/unhack-test-card-{os.getpid()}"
    try:
        os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except OSError:
        pytest.skip("device nodes cannot be made here")
    os.chmod(node, 0o666)
    yield Card(0, node, "a stand-in")
    os.unlink(node)


def worker(
    code: str, card: Card | None, *, limits: GpuLimits = LIMITS, **room: object
) -> GpuProcess:
    command = [inside(interpreter()), "-I", "-S", "-c", ANSWER + code]
    return GpuProcess(command, card=card, room=GpuRoom(**room), limits=limits)  # type: ignore[arg-type]


def ask(code: str, card: Card | None, **room: object) -> str:
    with worker(code, card, **room) as made:
        return made.receive(timeout_s=60).decode()


def test_the_card_is_there_and_can_be_opened(card: Card) -> None:
    code = f"fd = os.open({card.node!r}, os.O_RDWR); peer.send(str(os.write(fd, b'x')).encode())"
    assert ask(code, card) == "1"


def test_no_other_device_is_there(card: Card) -> None:
    code = (
        "import stat\n"
        "names = [n for n in os.listdir('/dev') if stat.S_ISCHR(os.stat('/dev/' + n).st_mode)]\n"
        "peer.send(' '.join(sorted(names)).encode())"
    )
    allowed = {"null", "zero", "full", "urandom", "random", "ptmx", os.path.basename(card.node)}
    names = set(ask(code, card).split())
    assert os.path.basename(card.node) in names
    assert not {name for name in names - allowed if not name.startswith("std")}, names


def test_without_a_card_it_is_the_same_tree_with_no_node_of_one() -> None:
    code = (
        "names = [n for n in os.listdir('/dev') if n.startswith(('nvidia', 'dri', 'kfd'))]\n"
        "peer.send(f'{os.getuid()} {names}'.encode())"
    )
    assert ask(code, None) == "65534 []"


def test_files_are_read_while_every_process_stands_still() -> None:
    code = (
        "os.mkdir('out')\n"
        "os.symlink('/etc/passwd', 'out/link')\n"
        "open('beside', 'w').write('not asked for')\n"
        "if os.fork() == 0:\n"
        "    number = 0\n"
        "    while True:\n"
        "        number += 1\n"
        "        with open('out/new', 'w') as file:\n"
        "            file.write(str(number))\n"
        "        os.rename('out/new', 'out/data')\n"
        "while not os.path.exists('out/data'): pass\n"
        "peer.send(b'R')\n"
        "peer.recv(1)"
    )
    with worker(code, None) as made:
        assert made.receive(timeout_s=60) == b"R"
        first = made.files(("out/*",), max_files=8, max_bytes=100)
        again = made.files(("out/*",), max_files=8, max_bytes=100)
    assert first == again
    assert int(first["out/data"]) > 0
    assert set(first) <= {"out/data", "out/new"}
    assert made.files(("out/*",), max_files=8, max_bytes=100) == {}


def test_no_node_can_be_made(card: Card) -> None:
    code = (
        "import stat\n"
        "try:\n    os.mknod('/tmp/n', 0o666 | stat.S_IFCHR, os.makedev(195, 1)); said = b'made'\n"
        "except OSError as error:\n    said = b'refused'\n"
        "peer.send(said)"
    )
    assert ask(code, card) == "refused"


def test_files_and_descriptors_arrive(card: Card) -> None:
    code = (
        "data, fds, _, _ = socket.recv_fds(peer, 100, 1)\n"
        "peer.send(data + os.read(fds[0], 10) + open('given').read().encode())"
    )
    reader, writer = os.pipe()
    os.write(writer, b"through")
    with worker(code, card, files={"given": b"file"}) as made:
        made.send(b"go ", fds=[reader])
        assert made.receive(timeout_s=60) == b"go throughfile"
    os.close(reader)
    os.close(writer)


def test_it_has_a_uid_of_its_own_and_sees_only_itself(card: Card) -> None:
    code = (
        "pids = [n for n in os.listdir('/proc') if n.isdigit()]\n"
        f"seen = os.path.exists('/proc/{os.getpid()}')\n"
        "peer.send(f'{os.getuid()} {len(pids)} {seen}'.encode())"
    )
    uid, count, seen = ask(code, card).split()
    assert uid == "65534"
    assert int(count) <= 3
    assert seen == "False" or os.getpid() < 4


@pytest.mark.slow
def test_a_silent_one_is_ended_at_its_deadline(card: Card) -> None:
    with worker("import signal, time\nsignal.pthread_sigmask(0, range(1, 60))\n"
                "while True: pass", card) as made:  # fmt: skip
        with pytest.raises(GpuProcessError, match="did not answer") as caught:
            made.receive(timeout_s=0.5)
        assert caught.value.late
        pid = made.watch.pid
    assert not os.path.exists(f"/proc/{pid}")


def test_what_it_starts_ends_with_it(card: Card) -> None:
    code = (
        "if not os.fork():\n    os.setsid()\n    while True: pass\npeer.send(b'on')\npeer.recv(1)"
    )
    with worker(code, card) as made:
        assert made.receive(timeout_s=60) == b"on"
        pids = tree_of(made.watch.pid)
        assert len(pids) == 3
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")]


def test_its_last_words_are_its_reason(card: Card) -> None:
    with (
        worker("raise ValueError('no such kernel')", card) as made,
        pytest.raises(GpuProcessError, match=r"code 1: ValueError: no such kernel"),
    ):
        made.receive(timeout_s=60)


@pytest.mark.slow
def test_more_memory_than_allowed_ends_it_and_is_told(card: Card) -> None:
    code = "kept = []\nwhile True: kept.append(bytearray(16 << 20))"
    with worker(code, card) as made:
        with pytest.raises(GpuProcessError) as caught:
            made.receive(timeout_s=120)
        assert not caught.value.late
        assert caught.value.limit == "memory"
        assert "host's memory" in str(caught.value)


@pytest.mark.skipif(find_parents().memory is None, reason="no control group is delegated here")
def test_a_control_group_that_is_quicker_than_the_watch_is_told_too(
    card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MemoryWatch, "look", lambda watch: None)
    code = "kept = []\nwhile True: kept.append(bytearray(16 << 20))"
    with worker(code, card) as made:
        with pytest.raises(GpuProcessError, match="more of the host's memory") as caught:
            made.receive(timeout_s=120)
        assert caught.value.limit == "memory"


def test_memory_of_the_card_beyond_the_limit_ends_it(
    card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "use_of", lambda card: lambda pids: 3 << 30)
    limits = GpuLimits(card_bytes=2 << 30)
    with worker("peer.recv(1)", card, limits=limits) as made:
        with pytest.raises(GpuProcessError, match=r"3.00 GiB of the card's memory") as caught:
            made.receive(timeout_s=60)
        assert caught.value.limit == "memory"


def test_a_command_that_is_not_there_is_told(card: Card) -> None:
    with (
        GpuProcess(["/no/such"], card=card, room=GpuRoom(), limits=LIMITS) as made,
        pytest.raises(GpuProcessError, match="could not be started"),
    ):
        made.receive(timeout_s=60)


def test_a_bind_that_is_not_there_is_told_and_leaves_nothing(card: Card) -> None:
    with pytest.raises(UsageError, match="cannot mount"):
        worker("", card, binds=(("/no/such", "/x"),)).__enter__()


def test_resident_memory_counts_what_no_file_backs() -> None:
    code = "import sys; kept = bytearray(64 << 20); print('up', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        assert child.stdout.readline() == b"up\n"
        used = resident_bytes(tree_of(child.pid))
        assert 64 << 20 < used < 256 << 20
        child.stdin.close()


def test_a_watch_ends_what_takes_too_much_once() -> None:
    ended: list[int] = []
    watch = MemoryWatch(os.getpid(), 1, 1 << 60, lambda pids: 0, lambda: ended.append(1))
    watch.look()
    watch.stop()
    assert ended == [1]
    assert "of the host's memory" in watch.exceeded


def test_a_watch_keeps_still_while_time_is_measured_and_not_for_long() -> None:
    looks: list[float] = []

    def use(pids: frozenset[int]) -> int:
        looks.append(time.monotonic())
        return 0

    watch = MemoryWatch(os.getpid(), 1 << 60, 1 << 60, use, lambda: None)
    watch.start()
    try:
        asked = time.monotonic()
        with watch.still():
            began, until = time.monotonic(), watch._still_until
            assert until >= asked + memory_watch._MOST_STILL_S
            while not looks or looks[-1] < until:
                time.sleep(0.01)  # it looks again although nobody lets it go
        assert not [one for one in looks if began <= one < until]
    finally:
        watch.stop()


def test_who_waits_awake_gets_the_same_answers_and_the_same_end(card: Card) -> None:
    with worker("peer.send(peer.recv(9)); import time; time.sleep(60)", card) as made:
        made.send(b"once")
        assert made.receive(timeout_s=60, awake_s=0.1) == b"once"
        with pytest.raises(GpuProcessError, match="did not answer") as caught:
            made.receive(timeout_s=0.05, awake_s=9.0)
        assert caught.value.late


def test_the_peer_reaches_nobody_else(card: Card) -> None:
    name = f"unhack-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{name}")
        abstract.listen()
        code = (
            "said = []\n"
            f"places = ((socket.AF_UNIX, '\\0{name}'), (socket.AF_INET, ('1.1.1.1', 53)))\n"
            "for family, place in places:\n"
            "    try:\n        socket.socket(family).connect(place); said.append('open')\n"
            "    except OSError:\n        said.append('shut')\n"
            "peer.send(' '.join(said).encode())"
        )
        assert ask(code, card) == "shut shut"


class TestTheUseOfACard:
    """Whether a driver counts a tree's processes by the host's numbers or not."""

    @pytest.fixture
    def counted(self, monkeypatch: pytest.MonkeyPatch) -> dict[int, int]:
        """The bytes by pid that the driver tells; what it calls 0 counts on the card alone."""
        held: dict[int, int] = {1: 10}

        class Driver:
            def memory(self, index: int) -> tuple[int, int]:
                return sum(held.values()), 1 << 40

            def processes(self, index: int) -> dict[int, int]:
                return {pid: size for pid, size in held.items() if pid > 0}

        monkeypatch.setattr(memory_watch, "nvml", Driver)
        return held

    def test_a_tree_that_is_counted_is_counted_alone(self, counted: dict[int, int]) -> None:
        use = memory_watch.use_of(Card(0, "/dev/null"))
        counted[7], counted[8] = 100, 500
        assert use(frozenset({7})) == 100

    def test_a_tree_that_is_not_counted_has_what_nobody_known_took(
        self, counted: dict[int, int]
    ) -> None:
        use = memory_watch.use_of(Card(0, "/dev/null"))
        counted[1], counted[-1] = 30, 200  # the second is told as no process
        assert use(frozenset({7})) == 200

    def test_a_driver_that_tells_nothing_accuses_nobody(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse() -> None:
            raise SandboxUnavailableError("no library")

        monkeypatch.setattr(memory_watch, "nvml", refuse)
        assert memory_watch.use_of(Card(0, "/dev/null"))(frozenset({7})) == 0


def test_a_frozen_tree_takes_no_processor_time_and_goes_on_when_thawed(card: Card) -> None:
    code = "peer.send(b'up')\nwhile True:\n    pass\n"
    with worker(code, card) as made:
        made.receive(timeout_s=60)
        made.freeze()
        before = made.cpu_s()
        assert before > 0
        time.sleep(0.05)
        assert made.cpu_s() == before
        made.thaw()
        deadline = time.monotonic() + 60
        while made.cpu_s() == before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert made.cpu_s() > before
        made.freeze()  # and it ends all the same


NAMED = """
with open(f"/proc/{os.getpid()}/task/{os.getpid()}/comm", "w") as file:
    file.write("gpu-thread")
with open("/proc/self/comm") as file:
    peer.send(file.read().strip().encode())
"""
REACHED = """
def write(path, text):
    try:
        fd = os.open(path, os.O_WRONLY)
        try:
            return not text or os.write(fd, text) > 0
        finally:
            os.close(fd)
    except OSError:
        return False

opened = (
    "1/mem", "1/comm", "1/oom_score_adj", "sysrq-trigger", "sys/kernel/core_pattern",
    "sys/kernel/hostname", "sys/vm/overcommit_memory", "sys/net/ipv4/ip_forward",
    "irq/default_smp_affinity", "mtrr", "driver/nvidia/registry",
)
found = [name for name in opened if write("/proc/" + name, b"")]
if write("/proc/self/oom_score_adj", b"-1000"):
    found.append("a better place when memory runs out")
if write("/proc/self/uid_map", b"0 0 1"):
    found.append("other users")
peer.send(" ".join(found).encode() or b"nothing")
"""
FAILS = """
try:
    os.open("/proc/self/comm", os.O_WRONLY)
except OSError as error:
    peer.send(str(error.errno).encode())
"""


def test_a_driver_may_name_its_threads(card: Card) -> None:
    assert ask(NAMED, card) == "gpu-thread"


def test_without_a_card_proc_is_only_read() -> None:
    assert ask(FAILS, None) == "30"


def test_who_may_name_its_threads_writes_to_nothing_else_of_proc(card: Card) -> None:
    assert ask(REACHED, card) == "nothing"
