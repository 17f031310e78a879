"""Commits, trees and files of a local git repository, read without any of its own settings.

    with GitObjects(Path("project")) as git:
        for commit in git.commits("HEAD", most=100):
            files = git.tree(commit.id)
            texts = git.contents(files[path].id for path in files)

The git program runs in an empty repository of our own that borrows the objects of the given one.
So its configuration, hooks, attributes, filters, aliases, replaced objects and grafts are never
read, and nothing is written to it.

Covered: repositories with a work tree, bare ones, linked work trees, shallow ones (history ends
where theirs does), SHA-1 and SHA-256; branches, tags and ids in full or short.
Not covered: refs in the reftable format; objects that a partial clone lacks (an error, nothing is
fetched); hostile objects, which the git program itself has to stand.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from unhack.core.errors import UsageError

_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+@-]*")
_TIME_S = 600
REGULAR = ("100644", "100755", "100664")
"""Modes of regular files in a tree."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit and its first parent."""

    id: str
    parent: str
    """Empty for one without."""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One file, link or submodule of a tree."""

    id: str
    mode: str
    """As git has it: `100644`, `100755`, `120000` (link), `160000` (submodule)."""
    size: int
    """Bytes; 0 for a submodule."""

    @property
    def regular(self) -> bool:
        """True for a regular file."""
        return self.mode in REGULAR


class GitObjects:
    """A reader of one repository; close it, or use it as a context."""

    def __init__(self, repository: Path) -> None:
        """Raises UsageError where there is no git program, or no repository at the path."""
        program = shutil.which("git")
        if program is None:
            raise UsageError("the git program is not installed, and reading a repository needs it")
        self._git = program
        self._folder, self._shared = _git_folders(repository)
        self._own = Path(tempfile.mkdtemp(prefix="unhack-git-"))
        try:
            self.head = self._resolved("HEAD")
            """The id that HEAD stands for; empty in a repository without commits."""
            self._prepare()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove what was made for reading."""
        shutil.rmtree(self._own, ignore_errors=True)

    def commit_id(self, name: str) -> str:
        """The full id of a commit named by branch, tag, or id. Raises UsageError."""
        known = self._resolved(name)
        asked = known or (name if re.fullmatch("[0-9a-f]{4,64}", name) else "")
        if asked:
            done = self._start("rev-parse", "--verify", "--quiet", f"{asked}^{{commit}}")
            if done.returncode == 0:
                return done.stdout.decode().strip()
        raise UsageError(f"no commit {name!r:.80} in {self._folder}")

    def commits(self, name: str, *, most: int) -> list[Commit]:
        """At most `most` commits that are no merges, from a named one backwards."""
        start = self.commit_id(name)
        lines = self._run(
            "rev-list", "--no-merges", "--topo-order", "--parents", f"--max-count={most}", start
        )
        found: list[Commit] = []
        for line in lines.decode().splitlines():
            commit, *parents = line.split()
            found.append(Commit(commit, parents[0] if parents else ""))
        return found

    def tree(self, commit: str) -> dict[str, TreeEntry]:
        """All entries below a commit by path; bytes that are no UTF-8 stand as surrogates."""
        found: dict[str, TreeEntry] = {}
        for record in self._run("ls-tree", "-r", "-l", "-z", "--full-tree", commit).split(b"\0"):
            if record:
                facts, _, path = record.partition(b"\t")
                mode, _, entry, size = facts.decode().split()
                count = int(size) if size.isdigit() else 0
                found[path.decode(errors="surrogateescape")] = TreeEntry(entry, mode, count)
        return found

    def contents(self, ids: Iterable[str]) -> dict[str, bytes]:
        """Contents of files by id. Raises UsageError for one that the repository lacks."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        data = self._run("cat-file", "--batch", stdin="\n".join(wanted).encode() + b"\n")
        found: dict[str, bytes] = {}
        at = 0
        for name in wanted:
            end = data.index(b"\n", at)
            words = data[at:end].split()
            if len(words) != 3:
                raise UsageError(f"{self._folder} lacks the object {name}: is it a partial clone?")
            size = int(words[2])
            found[name] = data[end + 1 : end + 1 + size]
            at = end + 2 + size
        return found

    def _prepare(self) -> None:
        """Make the empty repository that borrows the objects."""
        for name in ("objects/info", "refs"):
            (self._own / name).mkdir(parents=True)
        (self._own / "HEAD").write_text("ref: refs/heads/none\n")
        longer = "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
        version = longer if len(self.head) == 64 else "\trepositoryformatversion = 0\n"
        (self._own / "config").write_text(f"[core]\n\tbare = true\n{version}")
        place = str((self._shared / "objects").resolve())
        escaped = place.replace("\\", "\\\\").replace('"', '\\"')
        (self._own / "objects/info/alternates").write_text(f'"{escaped}"\n')
        shallow = self._shared / "shallow"
        if shallow.is_file():
            (self._own / "shallow").write_bytes(shallow.read_bytes())

    def _resolved(self, name: str) -> str:
        """The id that a ref stands for; empty for none. HEAD, branches, tags, remote branches."""
        for place in (name, f"refs/tags/{name}", f"refs/heads/{name}", f"refs/remotes/{name}"):
            text = place
            for _ in range(8):
                if _ID.fullmatch(text):
                    return text
                if not _REF.fullmatch(text) or ".." in text:
                    break
                text = self._ref(text).removeprefix("ref: ")
        return ""

    def _ref(self, name: str) -> str:
        """The text of one ref."""
        if name != "HEAD" and not name.startswith("refs/"):
            return ""
        for folder in (self._folder, self._shared):
            file = folder / name
            if file.is_file():
                return file.read_text(errors="replace").strip()
        packed = self._shared / "packed-refs"
        if packed.is_file():
            for line in packed.read_text(errors="replace").splitlines():
                target, _, ref = line.partition(" ")
                if ref == name:
                    return target
        return ""

    def _run(self, *words: str, stdin: bytes = b"") -> bytes:
        done = self._start(*words, stdin=stdin)
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip()[:300]
            raise UsageError(f"git {words[0]} failed on {self._folder}: {said}")
        return done.stdout

    def _start(self, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        environ = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self._own),
            "LC_ALL": "C",
            "GIT_DIR": str(self._own),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
        }
        flags = ("--no-pager", "--no-replace-objects", "--literal-pathspecs")
        command = [self._git, *flags, *words]
        try:
            return subprocess.run(
                command, input=stdin, env=environ, cwd=self._own, capture_output=True,
                timeout=_TIME_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise UsageError(f"git {words[0]} took over {_TIME_S} s on {self._folder}") from None


def _git_folders(repository: Path) -> tuple[Path, Path]:
    """The folder of HEAD, and that of objects and branches. Raises UsageError."""
    folder = repository / ".git"
    if folder.is_file():
        text = folder.read_text(errors="replace").strip()
        folder = repository / text.removeprefix("gitdir:").strip()
    elif not folder.is_dir():
        folder = repository
    if not (folder / "HEAD").is_file():
        raise UsageError(f"{repository} is no git repository: it holds no .git and is no bare one")
    common = folder / "commondir"
    shared = folder / common.read_text(errors="replace").strip() if common.is_file() else folder
    if (shared / "reftable").is_dir():
        raise UsageError(
            f"{repository} keeps its refs in the reftable format; clone it with"
            " --ref-format=files and give that"
        )
    if not (shared / "objects").is_dir():
        raise UsageError(f"{repository} is no git repository: it holds no objects")
    return folder, shared
