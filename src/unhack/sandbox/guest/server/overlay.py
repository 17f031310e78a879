"""The file system of one command: a state's layers, below a bounded one in memory that is new.

Covered: /workspace, home, /tmp and /dev/shm of the command on one file system of bounded size and
number of files; home and /tmp as folders of the workspace, where they shall last; a /proc that
shows its processes alone; what is needed to build it is out of sight before the command starts.
Not covered: privileges (`supervisor`). Sources: the kernel's overlayfs document, mount(8), proc(5).
"""

from __future__ import annotations

import os
import stat
from typing import Any

from unhack.sandbox.linux import calls

LAYERS, PROC, IMAGE = "/.layers", "/.proc", "/.image"
_STEP = "/.step"
WORKSPACE, HOME = "/workspace", "/home/agent"
_PLACES = {HOME: "home", "/tmp": "tmp", "/dev/shm": "shm"}
_DEVICES = ("null", "zero", "full", "urandom")
_SAFE = calls.MS_NOSUID | calls.MS_NODEV
_CHUNK = 1 << 20


def make_places() -> None:
    """Make the directories on which a command's file systems are mounted; the root is sealed
    afterwards."""
    for path in (_STEP, WORKSPACE, "/proc", *_PLACES):
        os.makedirs(path, 0o755, exist_ok=True)


def works() -> bool:
    """True where this kernel lets an ordinary user mount an overlay whose deletions hold."""
    pid = os.fork()
    if pid:
        return os.waitpid(pid, 0)[1] == 0
    code = 1
    try:
        calls.unshare(calls.CLONE_NEWNS)
        calls.mount("tmpfs", _STEP, kind="tmpfs", flags=_SAFE, data="mode=755,size=1m")
        for name in ("low", "low/d", "upper", "work"):
            os.mkdir(f"{_STEP}/{name}")
        os.close(os.open(f"{_STEP}/low/d/x", os.O_CREAT | os.O_WRONLY, 0o600))
        _mount_overlay([f"{_STEP}/low"])
        os.unlink(f"{WORKSPACE}/d/x")
        os.rmdir(f"{WORKSPACE}/d")
        os.mkdir(f"{WORKSPACE}/d")
        code = len(os.listdir(f"{WORKSPACE}/d"))
    finally:
        os._exit(code)


def show(order: dict[str, Any], hidden: list[str]) -> int:
    """Mount everything for one command; a descriptor of the workspace's writable layer."""
    data = f"mode=755,size={order['disk']},nr_inodes={order['inodes']}"
    calls.mount("tmpfs", _STEP, kind="tmpfs", flags=_SAFE, data=data)
    for name in ("upper", "work", *_PLACES.values()):
        os.mkdir(f"{_STEP}/{name}", 0o755)
    lower = [f"{LAYERS}/{name}" for name in reversed(order["layers"])]
    os.chmod(f"{_STEP}/upper", order["mode"])
    if order["image"]:
        lower += [f"{IMAGE}/{number}" for number in reversed(range(order["image"]))]
        return _enter_image(lower, hidden, order["read_only"])
    if order["overlay"]:
        _mount_overlay(lower)
    else:
        for path in reversed(lower):
            _copy_over(path, f"{_STEP}/upper")
        calls.mount(f"{_STEP}/upper", WORKSPACE, flags=calls.MS_BIND)
    kept = dict(order["kept"])
    for place, name in _PLACES.items():
        last = place in kept and _is_folder(f"{WORKSPACE}/{kept[place]}")
        source = f"{WORKSPACE}/{kept[place]}" if last else f"{_STEP}/{name}"
        calls.mount(source, place, flags=calls.MS_BIND)
    calls.mount("proc", "/proc", kind="proc", flags=_SAFE | calls.MS_NOEXEC)
    for path in hidden:
        calls.mount("/dev/null", path, flags=calls.MS_BIND)
    _make_read_only(order["read_only"])
    upper = os.open(f"{_STEP}/upper", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for path in (_STEP, LAYERS, PROC):
        calls.umount(path)
    return upper


def _enter_image(lower: list[str], hidden: list[str], read_only: list[str]) -> int:
    """Make an image, with the state's layers, the root directory; a descriptor of its writable
    layer. What the layers have at /proc, /dev or /sys is covered, and a link there is an error."""
    _mount_overlay(lower)
    for name in ("proc", "dev", "sys"):
        place = f"{WORKSPACE}/{name}"
        if not stat.S_ISDIR(os.lstat(place).st_mode):
            raise NotADirectoryError(20, f"/{name} is no folder any more, so nothing can be run")
    calls.mount("proc", f"{WORKSPACE}/proc", kind="proc", flags=_SAFE | calls.MS_NOEXEC)
    for path in hidden:
        calls.mount("/dev/null", WORKSPACE + path, flags=calls.MS_BIND)
    empty = _SAFE | calls.MS_RDONLY
    calls.mount("tmpfs", f"{WORKSPACE}/sys", kind="tmpfs", flags=empty, data="size=4k,mode=555")
    dev = f"{WORKSPACE}/dev"
    calls.mount("tmpfs", dev, kind="tmpfs", flags=_SAFE, data="size=64k,mode=755")
    for name, source in {**{name: name for name in _DEVICES}, "random": "urandom"}.items():
        os.close(os.open(f"{dev}/{name}", os.O_CREAT | os.O_WRONLY, 0o444))
        calls.mount(f"/dev/{source}", f"{dev}/{name}", flags=calls.MS_BIND)
    links = {"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
    for name, target in links.items():
        os.symlink(f"/proc/self/{target}", f"{dev}/{name}")
    os.mkdir(f"{dev}/shm")
    os.chmod(f"{_STEP}/shm", 0o1777)
    calls.mount(f"{_STEP}/shm", f"{dev}/shm", flags=calls.MS_BIND)
    _make_read_only(read_only)
    upper = os.open(f"{_STEP}/upper", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    os.chdir(WORKSPACE)
    calls.pivot_root(".", ".")
    calls.umount(".")
    os.chdir("/")
    return upper


def _make_read_only(names: list[str]) -> None:
    for name in names:
        place = f"{WORKSPACE}/{name}"
        calls.mount(place, place, flags=calls.MS_BIND)
        flags = calls.MS_REMOUNT | calls.MS_BIND | calls.MS_RDONLY | _SAFE
        calls.mount(None, place, flags=flags)


def _is_folder(path: str) -> bool:
    """True for a folder, which is made where nothing is. A link, which an earlier command may have
    left there, is none: a mount would follow it."""
    if not os.path.lexists(path):
        os.mkdir(path, 0o755)
    return stat.S_ISDIR(os.lstat(path).st_mode)


def _mount_overlay(lower: list[str]) -> None:
    os.chdir("/")
    below = ":".join(lower)
    data = f"lowerdir={below},upperdir={_STEP}/upper,workdir={_STEP}/work,userxattr"
    calls.mount("overlay", WORKSPACE, kind="overlay", flags=_SAFE, data=data)


def _copy_over(layer: str, top: str) -> None:
    """Put a layer over what lies below it."""
    with os.scandir(layer) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            found = entry.stat(follow_symlinks=False)
            place = f"{top}/{entry.name}"
            kind = stat.S_IFMT(found.st_mode)
            if kind != stat.S_IFDIR or not os.path.isdir(place) or os.path.islink(place):
                _remove(place)
            if kind == stat.S_IFDIR:
                if not os.path.isdir(place):
                    os.mkdir(place, 0o755)
                _copy_over(entry.path, place)
                os.chmod(place, stat.S_IMODE(found.st_mode))
            elif kind == stat.S_IFLNK:
                os.symlink(os.readlink(entry.path), place)
            elif kind == stat.S_IFREG:
                _copy_file(entry.path, place, found)


def _copy_file(source: str, place: str, found: os.stat_result) -> None:
    with open(source, "rb", buffering=0) as reader, open(place, "xb", buffering=0) as writer:
        while chunk := reader.read(_CHUNK):
            writer.write(chunk)
    os.chmod(place, stat.S_IMODE(found.st_mode))
    os.utime(place, ns=(found.st_mtime_ns, found.st_mtime_ns))


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        for name in os.listdir(path):
            _remove(f"{path}/{name}")
        os.rmdir(path)
    elif os.path.lexists(path):
        os.unlink(path)
