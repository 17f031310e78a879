"""OCI layouts made here: by hand for odd layers, and of this host's shell for commands."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

PROGRAMS = ("bash", "cat", "chmod", "chown", "echo", "env", "grep", "id", "ln", "ls", "mkdir", "mv",
            "pwd", "rm", "sleep", "stat", "touch")  # fmt: skip

MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def entry(name: str, content: bytes | None = b"", **more: Any) -> tuple[tarfile.TarInfo, bytes]:
    """A file of a layer; a folder without content; `type` and `linkname` for links."""
    info = tarfile.TarInfo(name)
    info.type = more.pop("type", tarfile.REGTYPE if content is not None else tarfile.DIRTYPE)
    info.mode = 0o644 if content is not None else 0o755
    for key, value in more.items():
        setattr(info, key, value)
    info.size = len(content or b"") if info.type == tarfile.REGTYPE else 0
    return info, content or b""


def tar_of(entries: Sequence[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for info, content in entries:
            archive.addfile(info, io.BytesIO(content) if info.type == tarfile.REGTYPE else None)
    return made.getvalue()


def layout(folder: Path, layers: Sequence[bytes], config: Mapping[str, Any] | None = None) -> Path:
    """An OCI layout with these tar files as its layers."""
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def put(data: bytes, kind: str) -> dict[str, Any]:
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(data)}

    oci = "application/vnd.oci.image"
    described = {
        "architecture": MACHINES.get(os.uname().machine, ""), "os": "linux",
        "config": dict(config or {}), "history": [{"created_by": "tests"} for _ in layers],
        "rootfs": {"type": "layers",
                   "diff_ids": [f"sha256:{hashlib.sha256(one).hexdigest()}" for one in layers]},
    }  # fmt: skip
    manifest = {
        "schemaVersion": 2, "mediaType": f"{oci}.manifest.v1+json",
        "config": put(json.dumps(described).encode(), f"{oci}.config.v1+json"),
        "layers": [put(one, f"{oci}.layer.v1.tar") for one in layers],
    }  # fmt: skip
    index = put(json.dumps(manifest).encode(), f"{oci}.manifest.v1+json")
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [index]}))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return folder


@cache
def shell_layer() -> bytes:
    """A layer with this host's bash, a few programs and the libraries that they need."""
    files: dict[str, Path] = {}
    for name in PROGRAMS:
        place = shutil.which(name, path="/usr/bin:/bin")
        assert place, name
        files[f"usr/bin/{name}"] = Path(place)
        said = subprocess.run(["ldd", place], capture_output=True, text=True, check=False).stdout
        for library in re.findall(r"(/\S+)", said):
            files[library.lstrip("/")] = Path(library)
    entries = [entry("usr", None), entry("usr/bin", None), entry("etc", None), entry("work", None)]
    entries.append(entry("bin", b"", type=tarfile.SYMTYPE, linkname="usr/bin"))
    entries.append(entry("etc/passwd", b"root:x:0:0::/root:\nann:x:1000:1000::/home/ann:\n"))
    entries.append(entry("etc/group", b"root:x:0:\nann:x:1000:\nstaff:x:50:ann\n"))
    entries.append(entry("usr/bin/sh", b"", type=tarfile.SYMTYPE, linkname="bash"))
    entries.append(entry("root", None))
    entries.append(entry("home/ann", None, uid=1000, gid=1000))
    for path, source in files.items():
        entries.append(entry(path, source.resolve().read_bytes(), mode=0o755))
    return tar_of(entries)


def shell_image(folder: Path, *more: bytes, **config: Any) -> Path:
    """The layout of an image with a shell in it, and further layers."""
    return layout(folder, [shell_layer(), *more], {"WorkingDir": "/work", **config})
