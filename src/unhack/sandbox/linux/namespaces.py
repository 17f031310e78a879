"""Namespaces and the read-only root: all that a job can name.

Covered: user, mount, net, ipc, uts and cgroup namespaces of the worker, a pid namespace of each
job; a root built from nothing with read-only binds; no /proc; a uid that is nobody's.
Not covered: what the kernel shows without a file (uname release, sysinfo totals, timing).

Runs inside the worker process, before it has seen any job. The steps need no privilege where user
namespaces are allowed. Sources: namespaces(7), user_namespaces(7), pivot_root(2).
"""

from __future__ import annotations

import _socket  # what a fork server has loaded anyway
import os
from typing import Any

from unhack.sandbox.linux import calls

WORKER_FLAGS = (
    calls.CLONE_NEWUSER
    | calls.CLONE_NEWNS
    | calls.CLONE_NEWNET
    | calls.CLONE_NEWIPC
    | calls.CLONE_NEWUTS
    | calls.CLONE_NEWCGROUP
)
INNER_ID = 65534
"""uid and gid of every job, as the job sees them."""
HOST_NAME = "sandbox"
SCRATCH_PARENT = "/scratch"
SCRATCH = "/scratch/work"
_SITE_STASH = "/.sites"
_LOCKED = calls.MS_NOSUID | calls.MS_NODEV
_OVER_FILES = (0, 1, 3)
"""CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER."""
IMAGE_ROOT = (*_OVER_FILES, 4, 5, 6, 7)
"""The same with CAP_FSETID, CAP_KILL, CAP_SETGID and CAP_SETUID: what root in an image is left
with. They hold over ids of the image alone, which belong to nobody on the host."""
_CAP_SETPCAP = 8
"""To empty the bounding set."""
_READ_ONLY = calls.MOUNT_ATTR_RDONLY | calls.MOUNT_ATTR_NOSUID | calls.MOUNT_ATTR_NODEV


def id_maps(*, as_root: bool, outer_id: int, image_ids: int = 0) -> str:
    """The uid (or gid) map of a worker.

    Root keeps its own id mapped while the root directory is built, then changes to `outer_id`,
    which belongs to nobody; an ordinary user can map only itself. With `image_ids` the ids of an
    image, from its root's on, are those from `outer_id` on.
    """
    if image_ids:
        return f"0 {outer_id} {image_ids}\n" + (f"{image_ids} 0 1\n" if as_root else "")
    return f"0 0 1\n{INNER_ID} {outer_id} 1\n" if as_root else f"{INNER_ID} {outer_id} 1\n"


def enter() -> None:
    """Move the calling, single-threaded process into fresh namespaces. Raises OSError."""
    calls.unshare(WORKER_FLAGS)


def become_nobody(*, as_root: bool) -> None:
    """Take the inner uid after the maps are written and the root is built, and keep only the
    capability that makes pid namespaces and mounts."""
    if as_root:
        calls.prctl(calls.PR_SET_KEEPCAPS, 1)
        os.setgroups([])
        os.setresgid(INNER_ID, INNER_ID, INNER_ID)
        os.setresuid(INNER_ID, INNER_ID, INNER_ID)
        calls.keep_capabilities(calls.CAP_SYS_ADMIN, _CAP_SETPCAP)
    calls.drop_bounding_set()
    calls.keep_capabilities(calls.CAP_SYS_ADMIN)


def become_mounter(*, as_root: bool) -> None:
    """The same for a process that mounts overlays: it also keeps the capabilities over files of the
    inner uid, which copying a file into the writable layer needs. A command gets none of them."""
    if as_root:
        calls.prctl(calls.PR_SET_KEEPCAPS, 1)
        os.setgroups([])
        os.setresgid(INNER_ID, INNER_ID, INNER_ID)
        os.setresuid(INNER_ID, INNER_ID, INNER_ID)
    calls.keep_capabilities(calls.CAP_SYS_ADMIN, *_OVER_FILES, _CAP_SETPCAP)


def become_image_root(*, as_root: bool, ids: int, proc: int, proc_place: str) -> None:
    """Become root of an image, whose commands may get some of its capabilities.

    Where root has started this, its own id is mapped until here, and whoever can change its id
    could take it. So this goes on in a user namespace of its own, to which only the image's ids are
    known; a child that stays behind writes its maps. `proc` is a descriptor of the host's /proc,
    which stands at `proc_place` here.
    """
    if as_root:
        # Read-only, it would let nobody in the new namespace mount one that can be written to.
        flags = calls.MS_REMOUNT | calls.MS_BIND | _LOCKED | calls.MS_NOEXEC
        calls.mount(None, proc_place, flags=flags)
        reader, writer = os.pipe()
        me = os.getpid()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.read(reader, 1)
                for kind in ("uid", "gid"):
                    file = os.open(f"{me}/{kind}_map", os.O_WRONLY, dir_fd=proc)
                    os.write(file, f"0 0 {ids}\n".encode())
                code = 0
            finally:
                os._exit(code)
        calls.unshare(calls.CLONE_NEWUSER | calls.CLONE_NEWNS)
        os.write(writer, b"x")
        os.close(reader)
        os.close(writer)
        if os.waitpid(child, 0)[1] != 0:
            raise OSError(1, "the ids of the image could not be mapped")
        os.setgroups([])
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
    calls.keep_capabilities(calls.CAP_SYS_ADMIN, *IMAGE_ROOT, _CAP_SETPCAP)


def build_root(spec: dict[str, Any]) -> None:
    """Build the root described by `RootSpec.to_json()` and make it the process's root."""
    _socket.sethostname(HOST_NAME)
    calls.mount(None, "/", flags=calls.MS_REC | calls.MS_PRIVATE)
    base = next(path for path in ("/tmp", "/var/tmp", "/mnt", "/usr") if os.path.isdir(path))
    calls.mount("tmpfs", base, kind="tmpfs", flags=_LOCKED, data="mode=755,size=1m")
    os.chdir(base)
    for name in ("new", "old"):
        os.mkdir(name, 0o755)
    calls.pivot_root(".", "old")
    os.chdir("/")
    calls.mount("/new", "/new", flags=calls.MS_BIND)
    for source, target in spec["binds"]:
        _bind("/old" + source, "/new" + target)
    for path in spec["devices"]:
        _bind("/old" + path, "/new" + path, device=True)
    for link, target in spec["symlinks"]:
        if not os.path.lexists("/new" + link):
            os.makedirs(os.path.dirname("/new" + link), 0o755, exist_ok=True)
            os.symlink(target, "/new" + link)
    for path in spec["masks"]:
        _cover("/new" + path)
    for index, (source, target) in enumerate(spec["sites"]):
        _bind("/old" + source, f"/new{_SITE_STASH}/{index}")
        _bind("/old" + source, "/new" + target)
    if spec["scratch"]:
        os.makedirs("/new" + SCRATCH, 0o755)
        if not os.path.lexists("/new/tmp"):
            # A link, because Landlock forgets the rule of a directory once something is mounted
            # there; the rule of /scratch, one above the mount, holds.
            os.symlink(SCRATCH.lstrip("/"), "/new/tmp")
    os.chdir("/new")
    calls.pivot_root(".", ".")
    calls.umount(".")
    os.chdir("/")


def _bind(source: str, target: str, *, device: bool = False) -> None:
    if os.path.isdir(source):
        os.makedirs(target, 0o755, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
        if not os.path.exists(target):
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o444))
    calls.mount(source, target, flags=calls.MS_BIND | calls.MS_REC)
    if device:
        calls.mount(None, target, flags=calls.MS_REMOUNT | calls.MS_BIND | calls.MS_NOSUID)
        return
    try:
        calls.mount_setattr_recursive(target, _READ_ONLY)
    except OSError as error:
        if error.errno != 38:
            raise
        flags = calls.MS_REMOUNT | calls.MS_BIND | calls.MS_RDONLY | _LOCKED
        calls.mount(None, target, flags=flags)


def _withhold(path: str) -> None:
    """Put an empty directory or an empty file in the place of one that is mounted read-only."""
    if os.path.isdir(path):
        _cover(path)
    else:
        calls.mount("/dev/null", path, flags=calls.MS_BIND)


def _cover(path: str) -> None:
    calls.mount("tmpfs", path, kind="tmpfs", flags=_LOCKED | calls.MS_RDONLY, data="size=4k")


def narrow_sites(spec: dict[str, Any], loaded: set[str], *, metadata: bool = False) -> None:
    """Leave only the entries of site-packages named in `loaded`, after preloading, and with
    `metadata` those of their distributions, which some programs ask; or all of them where the
    profile keeps them; never what is withheld."""
    withheld: set[str] = set(spec["withheld"])
    loaded = loaded - withheld
    sites: list[list[str]] = spec["sites"]
    for index, (_, path) in enumerate(sites):
        stash = f"{_SITE_STASH}/{index}"
        if not spec["keep_sites"]:
            calls.mount("tmpfs", path, kind="tmpfs", flags=_LOCKED, data="mode=755,size=1m")
            for name in os.listdir(stash):
                names = {name, name.removesuffix(".libs"), name.removesuffix(".py")}
                if metadata and name.endswith(".dist-info"):
                    names = _held_by(f"{stash}/{name}") - withheld
                if names & loaded:
                    _bind(f"{stash}/{name}", f"{path}/{name}")
            _read_only(path)
        else:
            compiled = f"{path}/__pycache__"  # of modules that are one file
            for folder in (path, compiled) if os.path.isdir(compiled) else (path,):
                for name in sorted(os.listdir(folder)):
                    if {name, name.partition(".")[0]} & withheld:
                        _withhold(f"{folder}/{name}")
        calls.umount(stash)


def _held_by(place: str) -> set[str]:
    """The top-level modules of a distribution, as far as its name and its own list tell."""
    found = {os.path.basename(place).partition("-")[0]}
    if os.path.isfile(f"{place}/top_level.txt"):
        with open(f"{place}/top_level.txt", errors="replace") as file:
            found |= set(file.read(1 << 16).split())
    return found


def seal_root() -> None:
    """Make the root itself read-only; nothing can be mounted over it by a job."""
    _read_only("/")


def _read_only(path: str) -> None:
    flags = calls.MS_REMOUNT | calls.MS_BIND | calls.MS_RDONLY | _LOCKED
    calls.mount(None, path, flags=flags)


def mount_scratch(*, disk_bytes: int, executable: bool) -> None:
    """Mount an empty private directory as cwd and /tmp; the job has its own mount namespace."""
    flags = _LOCKED if executable else _LOCKED | calls.MS_NOEXEC
    inodes = max(64, min(65536, disk_bytes // 4096))
    data = f"mode=700,size={disk_bytes},nr_inodes={inodes}"
    calls.mount("tmpfs", SCRATCH, kind="tmpfs", flags=flags, data=data)
    os.chdir(SCRATCH)
