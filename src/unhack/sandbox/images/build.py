"""Images on this host out of what people have: a folder with a Dockerfile, an archive, a name.

    builder = ImageBuilder(ImageStore(), bases={"ubuntu:24.04": "oci:bookworm"})
    root = builder.make(ImageSource(Path("task/environment")))

A Dockerfile is built by buildah, podman or docker, the first two without a daemon: each RUN is run
in a chroot. What stands for a name is taken from `bases`: an OCI layout or an archive, which are
read here, or another transport, which skopeo reads; without an entry skopeo asks the registry.

Covered: an image is built once for equal folders; the builder keeps what each instruction made, and
hands over layers that are not unpacked yet; what it keeps is bounded, its intermediate images go
where that grows too large; one build at a time in a store; where root builds,
everything of a build ends with this process, and the next build removes what a killed one left; a
build that takes too long, or a disk that is full.
Not covered: the memory of a build; isolation of RUN, which the builder's chroot is not: build what
you would run. Of a Dockerfile, what the builder does not know.
Source: buildah-build(1), skopeo-copy(1), containers-transports(5).
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
import subprocess
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from unhack.core.errors import SandboxUnavailableError, UsageError
from unhack.sandbox.images.layout import ImageError, extract_archive
from unhack.sandbox.images.source import ImageSource
from unhack.sandbox.images.store import ImageStore
from unhack.sandbox.workspace.image_root import ImageRoot

TIMEOUT_S = 1800.0
CACHE_BYTES = 20 << 30
"""Of the layers that a builder keeps between builds."""
_TRIM = {"buildah": ("rmi", "--prune", "--force"), "podman": ("image", "prune", "--force")}
"""Commands that remove what no name leads to: the images of each instruction."""
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
_QUIET = (("wget ", "exit status 4"), ("curl ", "exit status 6"), ("curl ", "exit status 7"))
"""The ends of downloaders that found no host, and may have been told to say nothing."""
_CAUSE = ("E: ", "ERROR", "error:", "fatal:")
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


class ImageBuilder:
    """Makes images in a store.

    Example:

        ImageBuilder(ImageStore(), network=False).make(ImageSource(Path("task/environment")))
    """

    def __init__(
        self,
        store: ImageStore,
        *,
        bases: Mapping[str, str] | None = None,
        builder: str = "",
        options: Sequence[str] = (),
        network: bool = True,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        """`bases` names what stands for a name: a transport and a place (`oci:DIR`,
        `docker-archive:FILE`). The first `builder` that is installed builds, with further
        `options` of its build command; RUN has the host's network, unless `network` is False. Where
        the builder's layers are more than `cache_bytes` after a build, those of its instructions
        are removed; docker's are its daemon's."""
        self.store = store
        self._bases = dict(bases or {})
        self._builder, self._options, self._network = builder, tuple(options), network
        self._timeout_s, self._cache_bytes = TIMEOUT_S, cache_bytes

    def make(self, source: ImageSource, *, timeout_s: float = TIMEOUT_S) -> ImageRoot:
        """The image of a source. Equal folders are built once; a name is asked for anew.

        Raises BuildError saying why it was not made, ImageError for a result that cannot be read,
        SandboxUnavailableError where a program is missing."""
        found = None if source.name else self.store.load(source.key)
        if found is not None:
            return found
        self.store.place.mkdir(parents=True, exist_ok=True)
        self._timeout_s = timeout_s
        with _alone(self.store.place):
            if shutil.disk_usage(self.store.place).free < _LEAST_FREE:
                least = f"less than {_LEAST_FREE >> 30} GiB are free there"
                raise BuildError(BuildFailure.DISK, least)
            with tempfile.TemporaryDirectory(dir=self.store.place, prefix=".layout-") as made:
                try:
                    return self._made(source, Path(made))
                except OSError as error:
                    kind = BuildFailure.DISK if error.errno == errno.ENOSPC else BuildFailure.STEP
                    raise BuildError(kind, str(error)) from None

    def _made(self, source: ImageSource, work: Path) -> ImageRoot:
        folder = source.folder
        if source.name:
            try:
                return self._taken(source, work)
            except (BuildError, SandboxUnavailableError):
                if folder is None or not (folder / source.dockerfile).is_file():
                    raise
        assert folder is not None
        return self._built(source, folder, work)

    def _taken(self, source: ImageSource, work: Path) -> ImageRoot:
        """The image of a name."""
        at = self._bases.get(source.name, f"docker://{source.name}")
        transport, _, place = at.partition(":")
        if transport == "oci":
            return self.store.take(*_tagged(place), key=source.key)
        if transport in ("docker-archive", "oci-archive"):
            file, tag = _tagged(place)
            extract_archive(file, work / "image")
            return self.store.take(work / "image", tag, key=source.key)
        skopeo = shutil.which("skopeo")
        if skopeo is None:
            raise SandboxUnavailableError(
                f"skopeo, which takes {at}, is not installed; on Debian: `apt-get install skopeo`"
            )
        with self.store.incoming() as layout:
            self._said(skopeo, "copy", "--quiet", at, f"oci:{layout}:made")
            return self.store.take(layout, "made", key=source.key)

    def _built(self, source: ImageSource, folder: Path, work: Path) -> ImageRoot:
        """The image of a folder."""
        name, program = _builder(self._builder)
        given = folder / source.dockerfile
        try:
            text = given.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise BuildError(BuildFailure.STEP, f"{given} cannot be read: {error}") from None
        storage = () if name == "docker" else self._storage()
        used = {
            base: self._base(base, (program, *storage), daemon=name == "docker")
            for base in _bases(text)
            if base in self._bases
        }
        (work / "Dockerfile").write_text(_rebased(text, used))
        options = [*self._options, f"--file={work / 'Dockerfile'}", "--tag=unhack-built"]
        options += [f"--build-arg={key}={value}" for key, value in source.arguments.items()]
        options += [f"--target={source.target}"] * bool(source.target)
        if name == "docker":
            options.append("--network=host" if self._network else "--network=none")
            self._said(program, "build", *options, str(folder))
            with open(work / "saved", "wb") as file:
                self._said(program, "save", "unhack-built", into=file.fileno())
            extract_archive(work / "saved", work / "image")
            return self.store.take(work / "image", key=source.key)
        tool = (program, *storage)
        options += ["--network=host", "--isolation=chroot", "--layers", "--format=oci"]
        self._said(*tool, "rm", "--all", check=False)
        try:
            self._said(*tool, "build", *options, str(folder), network=self._network)
            with self.store.incoming() as layout:
                place = f"oci:{layout}:made"
                self._said(*tool, "push", "--disable-compression", "unhack-built", place)
                return self.store.take(layout, "made", key=source.key)
        finally:
            if self._kept_bytes() > self._cache_bytes:
                self._said(*tool, "rmi", "--force", "unhack-built", check=False)
                self._said(*tool, *_TRIM[name], check=False)

    def _kept_bytes(self) -> int:
        """The bytes of all layers that the builder keeps, as it has written them down."""
        kept = Path(self._storage()[0].partition("=")[2])
        found = 0
        for file in kept.glob("*-layers/layers.json"):
            with contextlib.suppress(OSError, ValueError):
                found += sum(one.get("diff-size", 0) for one in json.loads(file.read_text()))
        return found

    def _storage(self) -> tuple[str, ...]:
        """The options by which a builder keeps everything in the store."""
        user = "root" if os.geteuid() == 0 else f"user-{os.geteuid()}"
        kept = self.store.place / "builder" / user
        return f"--root={kept}", f"--runroot={kept}-run"

    def _base(self, name: str, tool: tuple[str, ...], *, daemon: bool) -> str:
        """The name by which the builder knows what stands for a base."""
        source = self._bases[name]
        if ":" not in source or daemon:
            return source
        tag = f"localhost/unhack-base:{hashlib.sha256(source.encode()).hexdigest()[:16]}"
        if self._said(*tool, "inspect", "--type=image", tag, check=False) is None:
            found = (self._said(*tool, "pull", "--quiet", source) or "").strip().splitlines()
            self._said(*tool, "tag", found[-1], tag)
        return tag

    def _said(
        self, *command: str, check: bool = True, network: bool = True, into: int | None = None
    ) -> str | None:
        """The standard output of a program; None for one that failed, unless `check`.

        Raises BuildError."""
        with tempfile.TemporaryFile("w+", errors="replace") as out:
            process = subprocess.Popen(
                [*_bound(network=network), *command],
                stdin=subprocess.DEVNULL,
                stdout=out if into is None else into,
                stderr=subprocess.STDOUT if into is None else subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                code = process.wait(self._timeout_s)
            except BaseException as error:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                if isinstance(error, subprocess.TimeoutExpired):
                    raise BuildError(BuildFailure.TIME, f"over {self._timeout_s:g} s") from None
                raise
            out.seek(max(0, out.seek(0, os.SEEK_END) - _MOST_READ))
            text = out.read()
        if code == 0:
            return text
        if check:
            words = [word for word in command[1:] if not word.startswith("--")]
            raise _explained(words[0], text)
        return None


def _builder(wanted: str) -> tuple[str, str]:
    """(name, program) of a builder. Raises SandboxUnavailableError where there is none."""
    for name in [wanted] if wanted else ["buildah", "podman", "docker"]:
        program = shutil.which(name)
        if program is not None:
            return name, program
    raise SandboxUnavailableError(
        f"no {wanted or 'buildah, podman or docker'} is installed, which builds images; on Debian: "
        "`apt-get install buildah`"
    )


@contextlib.contextmanager
def _alone(place: Path) -> Generator[None]:
    """Hold the store for one build; what killed builds have left is removed."""
    with open(place / ".building", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in place.glob(".layout-*"):
            shutil.rmtree(left, ignore_errors=True)
        yield


def _tagged(place: str) -> tuple[Path, str]:
    """(path, tag) of `PATH` or `PATH:TAG`."""
    if os.path.exists(place) or ":" not in place:
        return Path(place), ""
    path, _, tag = place.partition(":")
    return Path(path), tag


def _bound(*, network: bool) -> list[str]:
    """The command that starts a program so that it ends with this process: for root with everything
    that it has started, in a pid namespace, whose mounts go with it. A chroot has its builder's
    network, so that without one the builder has none either.

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
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [""]
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
    if any(tool in lines[-1] and lines[-1].endswith(said) for tool, said in _QUIET):
        return BuildError(BuildFailure.NETWORK, f"{where}{last}")
    if _NO_BASE.search(end) and (not steps or steps[-1][1].upper().startswith(("FROM", "COPY"))):
        return BuildError(BuildFailure.BASE, f"{where}{last}")
    cause = next((line for line in reversed(lines[-60:]) if line.startswith(_CAUSE)), last)
    return BuildError(BuildFailure.STEP, f"{where}{cause[:_SHOWN]}")


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
    """The map of `NAME=IMAGE` words, and of `@FILE.json`. Raises UsageError for another word."""
    found: dict[str, str] = {}
    for word in given:
        name, _, image = word.partition("=")
        if word.startswith("@"):
            try:
                found.update(json.loads(Path(word[1:]).read_text()))
            except (OSError, ValueError, TypeError) as error:
                raise UsageError(f"{word[1:]} is no object of names and images: {error}") from None
        elif name and image:
            found[name] = image
        else:
            raise UsageError(f"{word!r} is no NAME=IMAGE, such as ubuntu:24.04=oci:bookworm")
    return found
