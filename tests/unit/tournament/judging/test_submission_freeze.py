"""What may leave a workspace."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from unhack.tournament.contest import DECLINED, Declared
from unhack.tournament.judging.submission import REFUSED, Frozen, freeze, inspect, read


class Contest:
    """A contest, as far as freezing looks at it."""

    declared = Declared(("solution.py",), ("data/*", "*.txt"), max_files=4, max_bytes=1000)


CONTEST: object = Contest()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    (made / "solution.py").write_bytes(b"x = 1\n")
    return made


def taken(workspace: Path) -> Frozen:
    return freeze(workspace, CONTEST, into=workspace.parent / "store")  # type: ignore[arg-type]


class TestWhatIsTaken:
    def test_only_declared_files_are_copied(self, workspace: Path) -> None:
        (workspace / "data").mkdir()
        (workspace / "data" / "w.bin").write_bytes(b"abc")
        (workspace / "solution.py").write_bytes(b"open('data/w.bin')")
        (workspace / "secret.key").write_bytes(b"no")
        frozen = taken(workspace)
        assert set(frozen.files) == {"solution.py", "data/w.bin"}
        assert frozen.bytes == 21
        assert read(frozen) == {"solution.py": b"open('data/w.bin')", "data/w.bin": b"abc"}
        assert frozen.folder == workspace.parent / "store" / frozen.digest
        assert not frozen.problem

    def test_the_digest_is_that_of_the_content(self, workspace: Path) -> None:
        first = taken(workspace)
        assert taken(workspace).digest == first.digest
        assert inspect(first.folder, CONTEST).digest == first.digest  # type: ignore[arg-type]
        (workspace / "solution.py").write_bytes(b"x = 2\n")
        assert taken(workspace).digest != first.digest

    def test_nothing_half_written_stays(self, workspace: Path) -> None:
        frozen = taken(workspace)
        assert os.listdir(workspace.parent / "store") == [frozen.digest]

    def test_a_decline_is_all_that_is_kept(self, workspace: Path) -> None:
        (workspace / DECLINED).write_text("The bound is reached.")
        frozen = taken(workspace)
        assert frozen.declined
        assert set(frozen.files) == {DECLINED}

    def test_hidden_names_and_caches_are_passed_by(self, workspace: Path) -> None:
        for name in (".git", "__pycache__", "node_modules"):
            (workspace / name).mkdir()
            (workspace / name / "a.txt").write_text("x")
        assert set(taken(workspace).files) == {"solution.py"}


class TestWhatIsLeftOut:
    """What agents leave beside their work is no part of it, and costs them nothing."""

    def left(self, workspace: Path, *paths: str, size: int = 1) -> Frozen:
        for path in paths:
            (workspace / path).parent.mkdir(parents=True, exist_ok=True)
            (workspace / path).write_bytes(b"x" * size)
        frozen = taken(workspace)
        assert (frozen.problem, frozen.flags) == ("", ())
        return frozen

    @pytest.mark.parametrize("size", [1, 1 << 20])
    def test_files_that_nothing_names(self, workspace: Path, size: int) -> None:
        frozen = self.left(
            workspace, *(f"data/try_{n}.py" for n in range(40)), "log.txt", size=size
        )
        assert set(frozen.files) == {"solution.py"}
        assert len(frozen.left_out) == 41
        assert "names it" in frozen.left_out["log.txt"]

    def test_copies_a_level_deeper(self, workspace: Path) -> None:
        frozen = self.left(workspace, "backup/data/a.bin", "data/old/b.bin", "backup/c.txt")
        assert (set(frozen.files), frozen.left_out) == ({"solution.py"}, {})

    @pytest.mark.parametrize(
        "name", ["a\n.txt", "\u202e.txt", "-rf.txt", "a" * 170 + ".txt", "é.txt"]
    )
    def test_odd_names(self, workspace: Path, name: str) -> None:
        assert "its name" in self.left(workspace, name).left_out[name]

    def test_links_to_own_work(self, workspace: Path) -> None:
        (workspace / "solution.py").write_text("open('best.txt')")
        (workspace / "best.txt").symlink_to("versions/best.txt")
        assert "link" in self.left(workspace, "versions/best.txt").left_out["best.txt"]

    def test_of_hundreds_fifty_are_told(self, workspace: Path) -> None:
        frozen = self.left(workspace, *(f"data/{n}" for n in range(90)))
        assert len(frozen.left_out) == 51
        assert frozen.left_out["..."] == "and 40 more"

    @pytest.mark.parametrize(
        ("program", "files"),
        [
            ("import tools", ["tools.txt"]),
            ("open('a-b.txt')", ["a-b.txt"]),
            ("[open(p) for p in sorted(os.listdir('data'))]", ["data/1", "data/2"]),
            ("open(f'{which}.txt')", ["one.txt", "two.txt"]),
            ("open(which + '.txt')", ["one.txt", "two.txt"]),
            ("Path().glob('*.txt')", ["one.txt", "two.txt"]),
        ],
    )
    def test_what_is_named_is_taken(self, workspace: Path, program: str, files: list[str]) -> None:
        (workspace / "solution.py").write_text(program)
        frozen = self.left(workspace, *files, "other.bin")
        assert set(frozen.files) == {"solution.py", *files}

    def test_what_a_part_names_is_taken_too(self, workspace: Path) -> None:
        (workspace / "solution.py").write_text("import first")
        (workspace / "first.txt").write_text("import second")
        assert "second.txt" in self.left(workspace, "second.txt").files


class TestWhatIsRefused:
    def name_a(self, workspace: Path) -> None:
        (workspace / "solution.py").write_text("open('a.txt')")

    def refused(self, workspace: Path, *words: str) -> Frozen:
        frozen = taken(workspace)
        assert all(word in frozen.problem for word in words), frozen.problem
        assert frozen.files == {}
        assert os.listdir(frozen.folder) == [REFUSED]
        again = inspect(frozen.folder, CONTEST)  # type: ignore[arg-type]
        assert (again.problem, again.flags) == (frozen.problem, frozen.flags)
        return frozen

    def test_a_missing_file_is_loud(self, workspace: Path) -> None:
        (workspace / "solution.py").unlink()
        assert self.refused(workspace, "nothing was handed in", "solution.py").flags == ()

    def test_a_workspace_that_is_gone_is_loud(self, tmp_path: Path) -> None:
        frozen = freeze(tmp_path / "none", CONTEST, into=tmp_path / "store")  # type: ignore[arg-type]
        assert "no workspace" in frozen.problem

    @pytest.mark.parametrize(
        ("target", "flagged"),
        [
            ("/etc/passwd", True),
            ("/proc/self/environ", True),
            ("../../judge/answers.bin", True),
            ("versions/best.py", False),
            ("/tmp/best.py", False),
        ],
    )
    def test_a_link_is_not_followed(self, workspace: Path, target: str, flagged: bool) -> None:
        (workspace / "solution.py").unlink()
        (workspace / "solution.py").symlink_to(target)
        frozen = self.refused(workspace, "link", target)
        assert [flag.kind for flag in frozen.flags] == ["reaches_out"] * flagged

    def test_a_linked_directory_is_not_entered(self, workspace: Path) -> None:
        (workspace / "data").symlink_to("/etc")
        assert set(taken(workspace).files) == {"solution.py"}

    def test_a_hard_link_is_refused(self, workspace: Path) -> None:
        outside = workspace.parent / "outside.txt"
        outside.write_text("not yours")
        (workspace / "solution.py").unlink()
        os.link(outside, workspace / "solution.py")
        assert self.refused(workspace, "hard link").flags == ()

    def test_a_pipe_is_refused_without_waiting(self, workspace: Path) -> None:
        self.name_a(workspace)
        os.mkfifo(workspace / "a.txt")
        assert [f.kind for f in self.refused(workspace, "pipe").flags] == ["reaches_out"]

    def test_a_socket_is_refused(self, workspace: Path) -> None:
        with socket.socket(socket.AF_UNIX) as made:
            (workspace / "solution.py").unlink()
            made.bind(str(workspace / "solution.py"))
            self.refused(workspace, "socket")

    def test_a_directory_in_place_of_a_file_is_refused(self, workspace: Path) -> None:
        (workspace / "solution.py").unlink()
        (workspace / "solution.py").mkdir()
        self.refused(workspace, "directory")

    def test_too_many_bytes_are_refused(self, workspace: Path) -> None:
        self.name_a(workspace)
        (workspace / "a.txt").write_bytes(b"x" * 995)
        self.refused(workspace, "more than 1000 bytes")

    def test_a_sparse_giant_is_not_read(self, workspace: Path) -> None:
        self.name_a(workspace)
        with (workspace / "a.txt").open("wb") as file:
            file.truncate(1 << 40)
        self.refused(workspace, "more than 1000 bytes")

    def test_too_many_files_are_refused(self, workspace: Path) -> None:
        (workspace / "solution.py").write_text("Path().glob('*.txt')")
        for number in range(4):
            (workspace / f"{number}.txt").write_bytes(b"")
        self.refused(workspace, "more than 4 files")

    def test_a_forged_refusal_only_harms_its_author(self, tmp_path: Path) -> None:
        (tmp_path / REFUSED).write_text(json.dumps({"problem": "", "flags": []}))
        (tmp_path / "solution.py").write_text("x = 1")
        assert inspect(tmp_path, CONTEST).problem == "refused"  # type: ignore[arg-type]
