"""The files of NVIDIA's driver and toolkit that a sealed process needs, and no others.

Covered: the node of one card with the two that every context opens; the driver's libraries,
wherever the loader finds them; the toolkit with nvcc.
Not covered: cards that are cut into instances (MIG), other vendors.
Sources: the nodes that NVIDIA's container toolkit gives a container; ldconfig(8), ld.so(8).
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

CONTROL = "/dev/nvidiactl"
MEMORY = "/dev/nvidia-uvm"
"""Every context opens both; what can be done through them is what the driver allows."""
_CARD = re.compile(r"/dev/nvidia\d+")
_DRIVER_ROOTS = ("/usr/local/nvidia", "/usr/lib/wsl", "/run/nvidia/driver")
_SHOWN = ("/usr/", "/lib/", "/lib64/")
"""Folders of the host that a program's root shows."""
_TOOLKITS = ("/usr/local/cuda", "/opt/cuda")
_LINE = re.compile(r"\s*(\S+) \(.*\) => (\S+)")


@dataclass(frozen=True, slots=True)
class DriverFiles:
    """Nodes, binds and environment of one card."""

    devices: tuple[str, ...]
    binds: tuple[tuple[str, str], ...] = ()
    """(host path, path inside) pairs, read-only: what a program's root does not show anyway."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str])


def card_nodes() -> tuple[str, ...]:
    """The nodes of the cards, in order of their numbers."""
    found = [path for path in glob.glob("/dev/nvidia*") if _CARD.fullmatch(path)]
    return tuple(sorted(found, key=lambda path: int(path.removeprefix("/dev/nvidia"))))


def find_library(name: str) -> str:
    """Path of a library of the driver (`libcuda.so.1`); empty where there is none."""
    folders = [*filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))]
    for root in _DRIVER_ROOTS:
        folders += [f"{root}/lib64", f"{root}/lib", *glob.glob(f"{root}/*/lib64")]
    for folder in folders:
        if os.path.exists(f"{folder}/{name}"):
            return f"{folder}/{name}"
    return _cached_library(name)


def _cached_library(name: str) -> str:
    """The loader's own answer."""
    program = shutil.which("ldconfig") or "/sbin/ldconfig"
    try:
        done = subprocess.run([program, "-p"], capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    matches = map(_LINE.match, done.stdout.decode(errors="replace").splitlines())
    found = [match[2] for match in matches if match and match[1] == name]
    return next((path for path in found if os.path.exists(path)), "")


def find_nvcc() -> str:
    """Path of the compiler; empty where the toolkit is not installed."""
    places = [f"{folder}/bin/nvcc" for folder in _TOOLKITS]
    places += sorted(glob.glob("/usr/local/cuda-*/bin/nvcc"), reverse=True)
    found = shutil.which("nvcc")
    return next((path for path in (found, *places) if path and os.access(path, os.X_OK)), "")


def toolkit_of(nvcc: str) -> str:
    """Root of the toolkit of a compiler: the folder with its `include`."""
    for program in (nvcc, os.path.realpath(nvcc)):
        root = Path(program).parent.parent
        if (root / "include" / "cuda_runtime.h").exists():
            return str(root)
    return next((path for path in _TOOLKITS if os.path.isdir(path)), "")


def driver_files(node: str) -> DriverFiles:
    """The files that a sealed process needs to use the card behind `node`."""
    library = find_library("libcuda.so.1")
    folder = os.path.dirname(library)
    paths = [folder] if folder else []
    environ = {
        "LD_LIBRARY_PATH": folder,
        "TRITON_LIBCUDA_PATH": folder,
        # a stream of several cards at once has no place in a process with one card
        "NCCL_NVLS_ENABLE": "0",
        "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1",
        "NVSHMEM_DISABLE_NVLS": "1",
    }
    nvcc = find_nvcc()
    toolkit = toolkit_of(nvcc) if nvcc else ""
    if toolkit:
        paths.append(os.path.realpath(toolkit))
        environ |= {"CUDA_HOME": os.path.realpath(toolkit), "NVCC": os.path.realpath(nvcc)}
    binds = [(path, path) for path in dict.fromkeys(paths) if not _is_shown(path)]
    return DriverFiles(
        devices=tuple(path for path in (node, CONTROL, MEMORY) if os.path.exists(path)),
        binds=tuple(binds),
        environ={name: value for name, value in environ.items() if value},
    )


def _is_shown(path: str) -> bool:
    return os.path.realpath(path).startswith(_SHOWN)
