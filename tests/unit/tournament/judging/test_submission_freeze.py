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
        (workspace / "secret.key").write_bytes(b"no")
        frozen = taken(workspace)
        assert set(frozen.files) == {"solution.py", "data/w.bin"}
        assert frozen.bytes == 9
        assert read(frozen) == {"solution.py": b"x = 1\n", "data/w.bin": b"abc"}
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


class TestWhatIsRefused:
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
        os.link(outside, workspace / "a.txt")
        assert self.refused(workspace, "hard link").flags == ()

    def test_a_pipe_is_refused_without_waiting(self, workspace: Path) -> None:
        os.mkfifo(workspace / "a.txt")
        assert [f.kind for f in self.refused(workspace, "pipe").flags] == ["reaches_out"]

    def test_a_socket_is_refused(self, workspace: Path) -> None:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(workspace / "a.txt"))
            self.refused(workspace, "socket")

    def test_a_directory_in_place_of_a_file_is_refused(self, workspace: Path) -> None:
        (workspace / "solution.py").unlink()
        (workspace / "solution.py").mkdir()
        self.refused(workspace, "directory")

    def test_too_many_bytes_are_refused(self, workspace: Path) -> None:
        (workspace / "a.txt").write_bytes(b"x" * 995)
        self.refused(workspace, "more than 1000 bytes")

    def test_a_sparse_giant_is_not_read(self, workspace: Path) -> None:
        with (workspace / "a.txt").open("wb") as file:
            file.truncate(1 << 40)
        self.refused(workspace, "more than 1000 bytes")

    def test_too_many_files_are_refused(self, workspace: Path) -> None:
        for number in range(4):
            (workspace / f"{number}.txt").write_bytes(b"")
        self.refused(workspace, "more than 4 files")

    @pytest.mark.parametrize(
        "name", ["a\n.txt", "\u202e.txt", "-rf.txt", "a" * 170 + ".txt", "é.txt"]
    )
    def test_an_odd_name_is_refused(self, workspace: Path, name: str) -> None:
        (workspace / name).write_bytes(b"x")
        self.refused(workspace, "not a plain name")

    def test_a_forged_refusal_only_harms_its_author(self, tmp_path: Path) -> None:
        (tmp_path / REFUSED).write_text(json.dumps({"problem": "", "flags": []}))
        (tmp_path / "solution.py").write_text("x = 1")
        assert inspect(tmp_path, CONTEST).problem == "refused"  # type: ignore[arg-type]
