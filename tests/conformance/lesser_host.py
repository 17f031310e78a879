"""Turn this process into one on a lesser host, then run a command: `lesser_host.py KIND COMMAND…`.

    no-user-namespaces   a nested user namespace in which no further one may be made
    container            the system calls that Docker's default profile refuses without CAP_SYS_ADMIN
    no-landlock          `container`, and a kernel that does not know Landlock
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from unhack.sandbox import linux, seccomp

CONTAINER = ("unshare", "mount", "umount2", "pivot_root", "open_tree", "mount_setattr")


def forbid_user_namespaces() -> None:
    """As an ordinary user: keep the own uid; as root: keep every id."""
    uid, gid = os.geteuid(), os.getegid()
    parent, child = os.pipe(), os.pipe()
    pid = os.getpid()
    if os.fork() == 0:
        os.read(parent[0], 1)
        if uid:
            Path(f"/proc/{pid}/setgroups").write_text("deny")
        every = "0 0 4294967295\n"
        Path(f"/proc/{pid}/uid_map").write_text(f"{uid} {uid} 1\n" if uid else every)
        Path(f"/proc/{pid}/gid_map").write_text(f"{gid} {gid} 1\n" if uid else every)
        os.write(child[1], b"x")
        os._exit(0)
    linux.unshare(linux.CLONE_NEWUSER)
    os.write(parent[1], b"x")
    os.read(child[0], 1)
    os.wait()
    Path("/proc/sys/user/max_user_namespaces").write_text("0")


def main() -> None:
    """See the module's docstring."""
    kind, *command = sys.argv[1:]
    if kind == "no-user-namespaces":
        forbid_user_namespaces()
    else:
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
        calls = CONTAINER + (("landlock_create_ruleset",) if kind == "no-landlock" else ())
        seccomp.denying(calls).load()
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
