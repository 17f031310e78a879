"""The place that a host is, a pod, a container or a Slurm job, and what fixes it there.

Covered: the marks that Kubernetes, Docker, Podman and Slurm leave.
Not covered: a container that hides its marks, and who may change the manifest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class HostPlace:
    """A place that may deny namespaces."""

    name: str
    remedy: str
    """The line of the manifest, or whom to ask, where namespaces are denied."""


POD = HostPlace(
    "a Kubernetes pod",
    "in the pod's manifest, under the container's securityContext: `seccompProfile: {type: "
    "Localhost, localhostProfile: unhack.json}` and `appArmorProfile: {type: Unconfined}` (see "
    "examples/deploy/kubernetes.yaml and kubernetes-serve.yaml)",
)
CONTAINER = HostPlace(
    "a container",
    "start it with --security-opt seccomp=examples/deploy/seccomp.json --security-opt "
    "apparmor=unconfined (see examples/deploy/Containerfile)",
)
SLURM = HostPlace(
    "a Slurm job",
    "the node's administrator lifts it for every job; `sbatch --constraint` can ask for nodes "
    "where it is lifted (see examples/deploy/score_array.sbatch)",
)


def find_place(environment: Mapping[str, str] = os.environ, root: str = "/") -> HostPlace | None:
    """The innermost place that has left a mark; None on an ordinary host."""
    base = Path(root)
    if "KUBERNETES_SERVICE_HOST" in environment:
        return POD
    marks = (base / ".dockerenv", base / "run" / ".containerenv")
    if "container" in environment or any(mark.exists() for mark in marks):
        return CONTAINER
    if "SLURM_JOB_ID" in environment:
        return SLURM
    return None
