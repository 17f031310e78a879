"""What hostile jobs try to reach, planted on purpose, and what they must not leave, looked for.

A `Ground` holds the secret in every place where a careless trainer keeps one: a world-readable
file, an environment variable, the memory of this process; and it listens on TCP, UDP and unix
sockets. A `Snapshot` is everything of this host that a job could add to.

Covered: processes, mounts, files in the world-writable places, System V and POSIX objects, control
groups, descriptors, threads and memory of this process.
Not covered: outside private pid and mount namespaces (`stage.py` makes them) others work at the
same time; there only what can be told to be the sandbox's own is looked at.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from unhack.sandbox.linux import cgroups

SECRET_ENV = "UNHACK_ESCAPE_SECRET"
MARKER = "unhack-neighbour-marker"
TOKEN_PREFIX = "unhack-token-"
FIRST_SANDBOX_UID = 2_000_000_000
CHECKOUT = str(Path(__file__).resolve().parents[2])
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue")
SIGNS = ("unhack", "program.py", "./main", "left_by_a_candidate", "note")
"""Where others work too: what processes of the sandbox and files of the corpus have in their
names."""
PRIVATE = "UNHACK_ESCAPE_PRIVATE"
"""Set by `stage.py`: nobody else runs or writes here, so every difference counts."""


def make_token() -> str:
    """A fresh secret; programs know its form, never its value."""
    return TOKEN_PREFIX + secrets.token_hex(16)


class Listeners:
    """Sockets of the host; every contact is noted, and answered with the secret's prefix."""

    def __init__(self, folder: str) -> None:
        self.contacts: list[str] = []
        self._sockets: list[socket.socket] = []
        self.unix_path = os.path.join(folder, "host.sock")
        self.abstract_name = f"unhack-escape-{secrets.token_hex(6)}"
        self.tcp_port = self._listen(socket.AF_INET, ("127.0.0.1", 0), "tcp")
        self._listen(socket.AF_UNIX, self.unix_path, "unix")
        os.chmod(self.unix_path, 0o777)
        self._listen(socket.AF_UNIX, "\0" + self.abstract_name, "abstract")
        self.udp_port = self._receive(socket.AF_INET, ("127.0.0.1", 0), "udp")
        self.datagram_path = os.path.join(folder, "host_datagrams.sock")
        self._receive(socket.AF_UNIX, self.datagram_path, "unix datagram")
        os.chmod(self.datagram_path, 0o777)

    def _listen(self, family: socket.AddressFamily, address: Any, name: str) -> int:
        server = socket.socket(family, socket.SOCK_STREAM)
        server.bind(address)
        server.listen(64)

        def greet() -> None:
            connection, _ = server.accept()
            self.contacts.append(name)
            with connection, contextlib.suppress(OSError):
                connection.sendall(b"hello from the host\n")

        self._serve(server, greet)
        found: Any = server.getsockname()
        return found[1] if isinstance(found, tuple) else 0

    def _receive(self, family: socket.AddressFamily, address: Any, name: str) -> int:
        server = socket.socket(family, socket.SOCK_DGRAM)
        server.bind(address)

        def answer() -> None:
            _, sender = server.recvfrom(2048)
            self.contacts.append(name)
            with contextlib.suppress(OSError, TypeError):  # one without an address
                server.sendto(b"hello from the host\n", sender)

        self._serve(server, answer)
        found: Any = server.getsockname()
        return found[1] if isinstance(found, tuple) else 0

    def _serve(self, server: socket.socket, once: Callable[[], None]) -> None:
        self._sockets.append(server)

        def loop() -> None:
            with contextlib.suppress(OSError):
                while True:
                    once()

        threading.Thread(target=loop, daemon=True).start()


@dataclass
class Ground:
    """The planted things."""

    token: str = field(default_factory=make_token)
    folder: str = ""
    listeners: Listeners | None = None
    target: dict[str, Any] = field(default_factory=dict[str, Any])

    def plant(self) -> None:
        """Write, set and listen."""
        self.folder = tempfile.mkdtemp(prefix="unhack-escape-")
        os.chmod(self.folder, 0o755)
        secret = Path(self.folder) / "secret_answer.txt"
        secret.write_text(self.token)
        secret.chmod(0o644)
        os.environ[SECRET_ENV] = self.token
        self.listeners = Listeners(self.folder)
        self.target = {
            "secret_path": str(secret),
            "secret_env": SECRET_ENV,
            "host_pid": os.getpid(),
            "host_uid": os.getuid(),
            "tcp_port": self.listeners.tcp_port,
            "udp_port": self.listeners.udp_port,
            "unix_path": self.listeners.unix_path,
            "datagram_path": self.listeners.datagram_path,
            "abstract_name": self.listeners.abstract_name,
            "scratch_hint": f"/tmp/left_by_a_candidate_{secrets.token_hex(4)}",
            "neighbour_marker": MARKER,
        }

    def damage(self) -> list[str]:
        """What was touched: contacts with the listeners, the secret, the hinted path."""
        found = [f"contact: {name}" for name in self.listeners.contacts] if self.listeners else []
        if Path(self.target["secret_path"]).read_text() != self.token:
            found.append("the secret file was changed")
        if os.environ.get(SECRET_ENV) != self.token:
            found.append("the environment was changed")
        if os.path.lexists(self.target["scratch_hint"]):
            found.append("the hinted file exists")
        return found


@dataclass(frozen=True)
class Snapshot:
    """Everything that a job could leave behind, by kind."""

    processes: frozenset[str]
    mounts: frozenset[str]
    files: frozenset[str]
    objects: frozenset[str]
    groups: frozenset[str]
    descriptors: frozenset[str]
    threads: frozenset[str]

    def new_in(self, later: Snapshot) -> list[str]:
        """What `later` has and this does not."""
        return [
            f"{item.name}: {entry}"
            for item in fields(self)
            for entry in sorted(getattr(later, item.name) - getattr(self, item.name))
        ]


def take_snapshot() -> Snapshot:
    """Look around."""
    return Snapshot(
        frozenset(_processes()),
        frozenset(Path("/proc/self/mountinfo").read_text().splitlines()),
        frozenset(_files()),
        frozenset(_objects()),
        frozenset(control_groups(host_name(os.getpid()))),
        frozenset(_descriptors()),
        frozenset(f"{thread.name} {thread.ident}" for thread in threading.enumerate()),
    )


def left_since(before: Snapshot, *, within_s: float = 60.0) -> list[str]:
    """What is there now and not `before`; what is on its way out gets a moment to go."""
    deadline = time.monotonic() + within_s
    while True:
        found = before.new_in(take_snapshot())
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def is_private() -> bool:
    """Whether this process is alone in its pid and mount namespaces."""
    return bool(os.environ.get(PRIVATE))


def _is_ours(uid: int, text: str) -> bool:
    if is_private() or (uid >= FIRST_SANDBOX_UID and os.getuid() == 0):
        return True
    return uid == os.getuid() and any(sign in text for sign in SIGNS)


def processes() -> dict[int, tuple[int, int, str]]:
    """pid -> (uid, parent, command line) of everything in sight."""
    found: dict[int, tuple[int, int, str]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            uid = os.stat(f"/proc/{name}").st_uid
            status = Path(f"/proc/{name}/status").read_text()
            words = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ")
        except OSError:
            continue
        lines = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        uid = int(lines["Uid"].split()[0])  # the folder's owner is root where it is not dumpable
        state = lines["State"].split()[0]
        text = words.decode(errors="replace")[:120]
        found[int(name)] = (uid, int(lines["PPid"]), f"{lines['Name']} {state} {text}")
    return found


def _processes() -> list[str]:
    own = os.getpid()
    return [
        f"{pid} uid {uid} {text}"
        for pid, (uid, parent, text) in processes().items()
        if pid != own and (_is_ours(uid, text) or parent == own)
    ]


def _files() -> list[str]:
    found: list[str] = []
    for place in PLACES:
        for root, folders, names in os.walk(place):
            if root == CHECKOUT:  # below /tmp, say: other tests write bytecode into it
                folders.clear()
                continue
            for name in (*folders, *names):
                path = os.path.join(root, name)
                with contextlib.suppress(OSError):
                    if _is_ours(os.lstat(path).st_uid, path):
                        found.append(path)
    return found


def _objects() -> list[str]:
    found: list[str] = []
    for kind in ("shm", "sem", "msg"):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
            found += [f"{kind} {' '.join(line.split()[:2])}" for line in lines]
    return found


def host_name(pid: int) -> str:
    """What the folders of a host's workers begin with, asked for while the process is there. Its
    number alone is that of others too, which run in pid namespaces of their own."""
    return f"unhack-{pid}-{cgroups.start_time(pid) or 'gone'}-"


def control_groups(host: str) -> list[str]:
    """Folders of workers of a host (see `host_name`)."""
    parents = cgroups.find_parents().directories()
    return [str(path) for parent in parents for path in parent.glob(f"{host}*")]


def _descriptors() -> list[str]:
    found: list[str] = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            link = os.readlink(f"/proc/self/fd/{name}")
            if not link.startswith(("/proc/", "/dev/null")):
                found.append(f"{name} {link}")
    return found


def memory_bytes() -> tuple[int, int]:
    """(resident now, highest resident) of this process."""
    text = Path("/proc/self/status").read_text()
    lines = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
    return tuple(int(lines[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM"))  # type: ignore[return-value]
