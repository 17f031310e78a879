"""Each layer of the sandbox in words: what it stops, what is lost without it, what brings it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unhack.sandbox.linux.capabilities import Capabilities

_NEWER_KERNEL = "a kernel with CONFIG_{}"
_LANDLOCK_GAPS = {
    2: "moving files between directories",
    3: "truncating files",
    4: "TCP",
    5: "device ioctls",
    6: "signals and abstract sockets",
}
"""Landlock ABI -> what it is the first to cover; below it, the filter alone denies that."""


def _nothing(facts: Capabilities) -> str:
    return ""


def _landlock_version(facts: Capabilities) -> str:
    gaps = [text for abi, text in _LANDLOCK_GAPS.items() if abi > facts.landlock_abi]
    rest = f"; left to the filter: {', '.join(gaps)}" if gaps else ""
    return f"ABI {facts.landlock_abi}{rest}"


def _cgroup_version(facts: Capabilities) -> str:
    return f"version {facts.cgroups.version}"


@dataclass(frozen=True, slots=True)
class Layer:
    """One mechanism."""

    name: str
    trial: str
    """Its name in `trials`."""
    stops: str
    without: str
    remedy: str
    needs_namespaces: bool = False
    """True when the host's obstacles to user namespaces stand in its way."""
    version: Callable[[Capabilities], str] = _nothing
    optional: bool = False
    """True where its absence weakens nothing."""


LAYERS: tuple[Layer, ...] = (
    Layer(
        "user namespace",
        "user",
        "taking any privilege of the host, since none of the job's capabilities counts there",
        "no other namespace for an ordinary user: only function jobs run, at the level `landlock`",
        _NEWER_KERNEL.format("USER_NS"),
        needs_namespaces=True,
    ),
    Layer(
        "uid mapping",
        "ids",
        "acting as the user who started the pool",
        "jobs keep the caller's uid: only the other layers keep them from the caller's processes",
        "write access to /proc/PID/uid_map; in a container, a map of at least two ids for root",
        needs_namespaces=True,
    ),
    Layer(
        "mount namespace",
        "mount",
        "naming any file of the host but the standard library and the C libraries",
        "no private directory, so scratch jobs and programs are refused",
        _NEWER_KERNEL.format("NAMESPACES"),
        needs_namespaces=True,
    ),
    Layer(
        "pid namespace",
        "pid",
        "seeing or signalling other processes, and leaving processes behind",
        "nothing would end what a program leaves behind, so programs are refused",
        _NEWER_KERNEL.format("PID_NS"),
        needs_namespaces=True,
    ),
    Layer(
        "network namespace",
        "net",
        "reaching any network or abstract socket, whatever the filter allows",
        "the filter alone denies sockets",
        _NEWER_KERNEL.format("NET_NS"),
        needs_namespaces=True,
    ),
    Layer(
        "ipc namespace",
        "ipc",
        "passing data between jobs through System V and POSIX queues and shared memory",
        "the filter alone denies them",
        _NEWER_KERNEL.format("IPC_NS"),
        needs_namespaces=True,
    ),
    Layer(
        "uts namespace",
        "uts",
        "changing the host's name",
        "the missing capability alone denies it",
        _NEWER_KERNEL.format("UTS_NS"),
        needs_namespaces=True,
    ),
    Layer(
        "cgroup namespace",
        "cgroup-namespace",
        "learning the job's place among the host's control groups",
        "nothing where /proc is not mounted, as here",
        _NEWER_KERNEL.format("CGROUPS"),
        needs_namespaces=True,
    ),
    Layer(
        "seccomp",
        "seccomp",
        "every system call that a candidate does not need: sockets, ptrace, bpf, io_uring, mounts",
        "nothing runs: each level needs it",
        "CONFIG_SECCOMP_FILTER on x86_64 or aarch64; in gVisor-like sandboxes, the real kernel",
    ),
    Layer(
        "Landlock",
        "landlock",
        "opening files beyond those named, even where the mount table has a hole",
        "no second wall behind the mount namespace, and no level `landlock` to fall back to",
        "Linux 5.13 or later with CONFIG_SECURITY_LANDLOCK, and landlock among lsm= at boot",
        version=_landlock_version,
    ),
    Layer(
        "no_new_privs",
        "no-new-privs",
        "gaining privilege from set-uid programs",
        "nothing runs: the filter needs it",
        "Linux 3.5 or later",
    ),
    Layer(
        "rlimits",
        "rlimits",
        "using more memory, CPU time, files, file size or processes than allowed",
        "nothing runs: each level needs them",
        "hard limits of the calling shell that are not below the sandbox's (`ulimit -H -a`)",
    ),
    Layer(
        "threads of each job",
        "accounts",
        "using up the threads, processes and queued signals that other jobs may have",
        "a worker runs one job at a time to its end, so that slow ones hold up those behind them",
        "Linux 5.14 or later, and nested user namespaces",
        needs_namespaces=True,
    ),
    Layer(
        "cgroups",
        "cgroups",
        "using memory that address space limits miss: page tables, pipe buffers, tmpfs pages",
        "a job can hold some tens of megabytes of kernel memory beyond its limit, and a program's "
        "processes have a memory limit each, none together",
        "systemd-run --user --scope -p Delegate=yes unhack …, or a container with writable cgroups",
        version=_cgroup_version,
    ),
    Layer(
        "overlays",
        "overlay",
        "nothing: it makes each command of an environment cheaper, whatever the workspace's size",
        "speed only: every command of an environment gets a copy of its workspace",
        "Linux 6.6 or later, where ordinary users may mount overlays in memory",
        needs_namespaces=True,
        optional=True,
    ),
    Layer(
        "pinned pages",
        "hot-pages",
        "nothing: it makes each fork of a warm worker cheaper",
        "speed only: more page faults for each job",
        "sysctl -w kernel.io_uring_disabled=0, and locked memory of a few MB (ulimit -l)",
        optional=True,
    ),
)
