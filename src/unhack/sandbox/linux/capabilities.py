"""The means of this host to isolate code, and advice about those that it lacks.

Nothing here starts a sandbox; `doctor` does, because some hosts (Ubuntu's AppArmor profile for user
namespaces) let the first step succeed and refuse a later one.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from unhack.sandbox.linux import cgroups, landlock, seccomp


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def namespace_obstacles() -> list[str]:
    """Settings of this host that deny unprivileged user namespaces, each with what lifts it."""
    obstacles: list[str] = []
    if not os.path.exists("/proc/self/ns/user"):
        obstacles.append("the kernel has no user namespaces (CONFIG_USER_NS)")
    if _read("/proc/sys/user/max_user_namespaces") == "0":
        obstacles.append("user.max_user_namespaces is 0: sysctl -w user.max_user_namespaces=15000")
    if os.geteuid() != 0 and _read("/proc/sys/kernel/unprivileged_userns_clone") == "0":
        obstacles.append(
            "kernel.unprivileged_userns_clone is 0: sysctl -w kernel.unprivileged_userns_clone=1"
        )
    if os.geteuid() != 0 and _read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        obstacles.append(
            "AppArmor restricts user namespaces: give this interpreter a profile with `userns,` in "
            "/etc/apparmor.d, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
        )
    if "\nSeccomp:\t2" in _read("/proc/self/status"):
        obstacles.append(
            "a system call filter is on this process, as in containers: start the container with "
            "--security-opt seccomp=unconfined (docker, podman), or allow unshare, mount, umount2 "
            "and pivot_root in its profile"
        )
    profile = _read("/proc/self/attr/current")
    if profile.endswith("(enforce)"):
        obstacles.append(
            f"the AppArmor profile {profile.split()[0]} confines this process: in a container, "
            "--security-opt apparmor=unconfined; elsewhere, allow `userns,` and `mount,` in it"
        )
    return obstacles


SEE_DOCTOR = "Run `unhack doctor` for each layer's state."


def advice() -> str:
    """The steps that would make full isolation possible here, and where to read more."""
    obstacles = namespace_obstacles()
    if not seccomp.is_supported():
        obstacles.insert(0, f"no system call table for {os.uname().machine}")
    if not obstacles:
        return SEE_DOCTOR
    return f"On this host: {'; '.join(obstacles)}. {SEE_DOCTOR}"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Facts about the host, read without changing it."""

    kernel: str
    machine: str
    uid: int
    landlock_abi: int
    seccomp: bool
    cgroups: cgroups.Parents
    obstacles: list[str]


def read_capabilities() -> Capabilities:
    """Look at the host."""
    uname = os.uname()
    actions = _read("/proc/sys/kernel/seccomp/actions_avail")
    return Capabilities(
        kernel=uname.release,
        machine=uname.machine,
        uid=os.geteuid(),
        landlock_abi=landlock.abi_version(),
        seccomp=seccomp.is_supported() and "errno" in actions,
        cgroups=cgroups.find_parents(),
        obstacles=namespace_obstacles(),
    )
