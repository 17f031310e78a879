"""Images out of a folder with a Dockerfile, by a builder that is there: buildah, podman or docker.

    builder = find_builder()
    root = build(Path("task/environment"), store=ImageStore(), builder=builder)

buildah and podman need no daemon: each RUN is run in a chroot. A named base that no registry gives
is taken from `bases`: {"ghcr.io/…/ubuntu-24-04:20250624": "oci:bookworm"}.

Covered: an image is built once for equal folders; the builder keeps what each instruction made; one
build at a time in a store; where root builds, everything of a build ends with this process, and the
next build removes what a killed one left; a build that takes too long, or a disk that is full.
Not covered: the memory of a build; isolation of RUN, which the builder's chroot is not: build what
you would run. Of a Dockerfile, what the builder does not know.
Source: buildah-build(1), containers-transports(5).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import tarfile
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from unhack.core.errors import SandboxUnavailableError
from unhack.sandbox.images.layout import ImageError
from unhack.sandbox.images.store import ImageStore
from unhack.sandbox.workspace.image_root import ImageRoot

TIMEOUT_S = 1800.0
_LEAST_FREE = 2 << 30
"""Bytes that must be free on the disk before a build begins."""
_SHOWN = 400
_MOST_READ = 1 << 18
"""Characters at the end of a builder's output that are looked at."""
_NO_BASE = re.compile(
    r"pinging container registry|no such host|dial tcp|docker://|reading manifest|short-name|"
    r"pull access denied|failed to resolve|failed to do request|manifest unknown|image not known"
)
_STEP = re.compile(r"^(?:STEP|Step) (\d+/\d+)\s*:? (.{0,200})", re.MULTILINE)
_NETWORK = re.compile(
    r"Could not resolve|Temporary failure (?:in name )?resol|Network is unreachable|"
    r"Failed to establish a new connection"
)
_NO_PACKAGE = re.compile(
    r"Unable to locate package|has no installation candidate|No matching distribution found|"
    r"Version '.{1,80}' for '.{1,80}' was not found|404 +Not Found"
)


class BuildFailure(StrEnum):
    """Why an image was not built."""

    BASE = "base not to be had"
    PACKAGE = "package or version not to be had"
    NETWORK = "no network"
    TIME = "took too long"
    DISK = "disk full"
    STEP = "an instruction failed"


class BuildError(ImageError):
    """An image that was not built: `kind`, and what the builder said."""

    def __init__(self, kind: BuildFailure, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail = kind, detail


@dataclass(frozen=True, slots=True)
class Builder:
    """A program that builds images.

    Example:

        Builder("buildah", ("buildah",))
    """

    name: str
    command: tuple[str, ...]
    options: tuple[str, ...] = ()
    """Further options of its build command, such as `--volume=FILE:FILE:ro`."""
    network: bool = True
    """True lets RUN use the host's network."""
    bases: Mapping[str, str] = field(default_factory=dict[str, str])
    """The image that stands for a name in FROM: a transport and a place (`oci:DIR`,
    `docker-archive:FILE`), or a name that the builder knows."""


def find_builder(name: str = "", **more: object) -> Builder:
    """The builder of that name, or the first that is installed.

    Raises SandboxUnavailableError where there is none."""
    for known in [name] if name else ["buildah", "podman", "docker"]:
        place = shutil.which(known)
        if place is not None:
            return Builder(known, (place,), **more)  # pyright: ignore[reportArgumentType]
    raise SandboxUnavailableError(
        f"no {name or 'buildah, podman or docker'} is installed, which builds images; on Debian: "
        "`apt-get install buildah`"
    )


def folder_key(folder: Path) -> str:
    """The key of the image of a folder: equal for equal files."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        found = path.lstat()
        name = os.fsencode(path.relative_to(folder).as_posix())
        if stat.S_ISREG(found.st_mode):
            data = hashlib.sha256(path.read_bytes()).digest()
            digest.update(b"f%d\0" % bool(found.st_mode & 0o100) + name + b"\0" + data)
        elif stat.S_ISLNK(found.st_mode):
            digest.update(b"l\0" + name + b"\0" + os.fsencode(os.readlink(path)) + b"\0")
        elif stat.S_ISDIR(found.st_mode):
            digest.update(b"d\0" + name + b"\0")
    return digest.hexdigest()[:32]


def build(
    folder: Path, *, store: ImageStore, builder: Builder, timeout_s: float = TIMEOUT_S
) -> ImageRoot:
    """The image of a folder, built now unless it was built before.

    Raises BuildError saying why it was not built, ImageError for a result that cannot be read."""
    key = folder_key(folder)
    found = store.load(key)
    if found is not None:
        return found
    store.place.mkdir(parents=True, exist_ok=True)
    with _alone(store.place):
        if shutil.disk_usage(store.place).free < _LEAST_FREE:
            raise BuildError(BuildFailure.DISK, f"less than {_LEAST_FREE >> 30} GiB are free there")
        with tempfile.TemporaryDirectory(dir=store.place, prefix=".layout-") as made:
            run = _Run(builder, store.place / "builder", timeout_s)
            layout = Path(made, "layout")
            try:
                run.build(folder, layout, Path(made, "Dockerfile"))
                return store.take(layout, key=key)
            except OSError as error:
                kind = BuildFailure.DISK if error.errno == errno.ENOSPC else BuildFailure.STEP
                raise BuildError(kind, str(error)) from None


@contextlib.contextmanager
def _alone(place: Path) -> Generator[None]:
    """Hold the store for one build; what killed builds have left is removed."""
    with open(place / ".building", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in place.glob(".layout-*"):
            shutil.rmtree(left, ignore_errors=True)
        yield


@dataclass(frozen=True, slots=True)
class _Run:
    """One builder at work, with a storage of its own in the store."""

    builder: Builder
    storage: Path
    timeout_s: float

    def build(self, folder: Path, layout: Path, dockerfile: Path) -> None:
        """Build, and write the OCI layout."""
        source = folder / "Dockerfile"
        try:
            text = source.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise BuildError(BuildFailure.STEP, f"{source} cannot be read: {error}") from None
        used = {name: self._base(name) for name in _bases(text) if name in self.builder.bases}
        dockerfile.write_text(_rebased(text, used))
        options = [*self.builder.options, "--file", str(dockerfile), "--network=host"]
        if self.builder.name == "docker":
            options[-1] = "--network=host" if self.builder.network else "--network=none"
            self._said("build", *options, "--tag", "unhack-built", str(folder))
            self._saved_by_docker(layout)
            return
        self._said("rm", "--all", check=False)
        options += ["--isolation=chroot", "--layers", "--format=oci", "--tag=unhack-built"]
        self._said("build", *options, str(folder))
        self._said("push", "--disable-compression", "unhack-built", f"oci:{layout}:built")
        self._said("untag", "unhack-built", check=False)

    def _base(self, name: str) -> str:
        """The name by which the builder knows what stands for a base."""
        source = self.builder.bases[name]
        if ":" not in source or self.builder.name == "docker":
            return source
        tag = f"localhost/unhack-base:{hashlib.sha256(source.encode()).hexdigest()[:16]}"
        if self._said("inspect", "--type=image", tag, check=False) is None:
            found = (self._said("pull", "--quiet", source) or "").strip().splitlines()
            self._said("tag", found[-1], tag)
        return tag

    def _saved_by_docker(self, layout: Path) -> None:
        with tempfile.TemporaryFile(dir=layout.parent) as file:
            self._said("save", "unhack-built", into=file.fileno())
            file.seek(0)
            with tarfile.open(fileobj=file) as archive:
                archive.extractall(layout, filter="data")

    def _said(self, *words: str, check: bool = True, into: int | None = None) -> str | None:
        """The standard output of a builder's command; None for one that failed, unless `check`.

        Raises BuildError."""
        # A chroot has the builder's own network, so without one the builder has none either.
        command = [*_bound(network=self.builder.network or words[0] != "build")]
        command += self.builder.command
        if self.builder.name != "docker":
            kept = self.storage / ("root" if os.geteuid() == 0 else f"user-{os.geteuid()}")
            command += [f"--root={kept}", f"--runroot={kept}-run"]
        with tempfile.TemporaryFile("w+", errors="replace") as out:
            process = subprocess.Popen(
                [*command, *words],
                stdin=subprocess.DEVNULL,
                stdout=out if into is None else into,
                stderr=subprocess.STDOUT if into is None else subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                code = process.wait(self.timeout_s)
            except BaseException as error:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                if isinstance(error, subprocess.TimeoutExpired):
                    raise BuildError(BuildFailure.TIME, f"over {self.timeout_s:g} s") from None
                raise
            out.seek(max(0, out.seek(0, os.SEEK_END) - _MOST_READ))
            text = out.read()
        if code == 0:
            return text
        if check:
            raise _explained(words[0], text)
        return None


def _bound(*, network: bool) -> list[str]:
    """The command that starts a builder so that it ends with this process: for root with everything
    that it has started, in a pid namespace, whose mounts go with it.

    Raises SandboxUnavailableError where a network cannot be taken away."""
    found = shutil.which("setpriv")
    command = [found, "--pdeathsig", "KILL"] if found else []
    if os.geteuid() == 0 and (unshare := shutil.which("unshare")):
        command += [unshare, "--pid", "--mount-proc", "--kill-child"]
        return command if network else [*command, "--net"]
    if not network:
        raise SandboxUnavailableError("only root can build without a network here")
    return command


def _explained(what: str, text: str) -> BuildError:
    """The error behind a builder's output."""
    steps = _STEP.findall(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = " / ".join(lines[-3:])[-_SHOWN:]
    where = f"step {steps[-1][0]}, {steps[-1][1].strip()}: " if steps else f"{what}: "
    end = "\n".join(lines[-60:])
    for pattern, kind in (
        (re.compile("no space left on device", re.IGNORECASE), BuildFailure.DISK),
        (_NO_PACKAGE, BuildFailure.PACKAGE),
        (_NETWORK, BuildFailure.NETWORK),
    ):
        if pattern.search(end):
            said = next((line for line in reversed(lines) if pattern.search(line)), last)
            return BuildError(kind, f"{where}{said[:_SHOWN]}")
    if _NO_BASE.search(end) and (not steps or steps[-1][1].upper().startswith(("FROM", "COPY"))):
        return BuildError(BuildFailure.BASE, f"{where}{last}")
    return BuildError(BuildFailure.STEP, f"{where}{last}")


def _from_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """(number of the line, its words) of each FROM, and of each COPY from another image."""
    for number, line in enumerate(text.splitlines()):
        words = line.split()
        if words and words[0].upper() in ("FROM", "COPY", "ADD"):
            yield number, words


def _bases(text: str) -> list[str]:
    """The images that a Dockerfile names, its own stages left out."""
    stages: set[str] = set()
    found: list[str] = []
    for _, words in _from_lines(text):
        named = [word for word in words[1:] if not word.startswith("--")]
        if words[0].upper() == "FROM" and named:
            if named[0] not in stages:
                found.append(named[0])
            if len(named) == 3 and named[1].upper() == "AS":
                stages.add(named[2])
        else:
            copied = [word.removeprefix("--from=") for word in words if word.startswith("--from=")]
            found += [one for one in copied if one not in stages and not one.isdigit()]
    return list(dict.fromkeys(found))


def _rebased(text: str, used: Mapping[str, str]) -> str:
    """The Dockerfile with other names for its bases."""
    lines = text.splitlines(keepends=True)
    for number, words in _from_lines(text):
        for name, other in used.items():
            if name in words or f"--from={name}" in words:
                lines[number] = lines[number].replace(name, other, 1)
    return "".join(lines)


def base_map(given: Sequence[str]) -> dict[str, str]:
    """The map of `NAME=IMAGE` words, and of `@FILE.json`. Raises ImageError for another word."""
    found: dict[str, str] = {}
    for word in given:
        name, _, image = word.partition("=")
        if word.startswith("@"):
            found.update(json.loads(Path(word[1:]).read_text()))
        elif name and image:
            found[name] = image
        else:
            raise ImageError(f"{word!r} is no NAME=IMAGE, such as ubuntu:24.04=oci:bookworm")
    return found
