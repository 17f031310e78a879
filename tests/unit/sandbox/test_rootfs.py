from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import UsageError
from unhack.sandbox import rootfs
from unhack.sandbox.job import Kind, Profile, Role
from unhack.sandbox.rootfs import inside, interpreter, packages_beside, root_spec, site_directories

PRIVATE = ("/home", "/root", "/proc", "/sys", "/var", "/etc/passwd", "/etc/shadow", "/run", "/srv")


def _targets(profile: Profile) -> list[str]:
    return [target for _, target in root_spec(profile).binds]


class TestSpec:
    @pytest.mark.parametrize("kind", list(Kind))
    def test_sources_exist_and_are_resolved(self, kind: Kind) -> None:
        binds = root_spec(Profile(kind=kind)).binds
        assert binds
        for source, _ in binds:
            assert os.path.isabs(source)
            assert os.path.exists(source)

    @pytest.mark.parametrize("kind", list(Kind))
    def test_nothing_private_of_the_host_is_mounted(self, kind: Kind) -> None:
        library = os.path.realpath(sysconfig.get_path("stdlib"))
        prefix = os.path.realpath(sys.base_prefix)
        python = {library, *(f"{prefix}/{part}" for part in ("bin", "include", "lib", "share"))}
        targets = [*_targets(Profile(kind=kind))]
        assert targets
        for target in targets:
            assert target not in {"/", *PRIVATE, "/etc"}
            if target not in python:
                assert not target.startswith(("/home/", "/root/", "/var/", "/proc/", "/sys/"))

    @pytest.mark.parametrize("kind", list(Kind))
    def test_site_packages_beside_the_standard_library_are_covered(self, kind: Kind) -> None:
        spec = root_spec(Profile(kind=kind))
        library = os.path.realpath(sysconfig.get_path("stdlib"))
        for name in ("site-packages", "dist-packages"):
            path = f"{library}/{name}"
            assert (path in spec.masks) is os.path.isdir(path)

    def test_functions_see_no_programs(self) -> None:
        targets = _targets(Profile())
        assert "/usr" not in targets
        assert not any(target in {"/bin", "/usr/bin", "/sbin"} for target in targets)
        assert "/usr" in _targets(Profile(kind=Kind.PROGRAM))

    def test_functions_get_one_device_and_programs_four_at_most(self) -> None:
        assert root_spec(Profile()).devices == ["/dev/null"]
        assert set(root_spec(Profile(kind=Kind.SCRATCH)).devices) <= {"/dev/null", "/dev/urandom"}
        assert set(root_spec(Profile(kind=Kind.PROGRAM)).devices) <= {
            "/dev/null",
            "/dev/zero",
            "/dev/full",
            "/dev/urandom",
        }

    def test_only_function_jobs_go_without_a_private_directory(self) -> None:
        assert [root_spec(Profile(kind=kind)).scratch for kind in Kind] == [False, True, True]

    def test_a_library_in_the_place_of_pythons_brings_the_packages_that_are_preloaded(
        self, tmp_path: Path
    ) -> None:
        library = os.path.realpath(os.path.dirname(os.__file__))
        own = Profile(kind=Kind.SCRATCH, preload=("numpy",), binds=((str(tmp_path), library),))
        assert root_spec(own).sites == []
        beside = Profile(kind=Kind.SCRATCH, preload=("numpy",), binds=((str(tmp_path), "/data"),))
        assert root_spec(beside).site_paths == [*map(inside, site_directories())]

    def test_site_packages_are_seen_only_by_those_who_asked(self) -> None:
        assert root_spec(Profile()).sites == []
        asked = root_spec(Profile(preload=("pytest",)))
        assert asked.sites == [[site, inside(site)] for site in site_directories()]
        assert not root_spec(Profile(preload=("pytest",))).keep_sites
        judge = Profile(role=Role.JUDGE, site_packages=True)
        assert root_spec(judge).keep_sites

    @pytest.mark.parametrize("role", list(Role))
    @pytest.mark.parametrize("kind", list(Kind))
    def test_contents_are_withheld_from_every_job(
        self, kind: Kind, role: Role, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(rootfs, "content_packages", lambda: frozenset({"acme_boxes"}))
        for whole in (False, True):
            spec = root_spec(Profile(kind=kind, role=role, site_packages=whole))
            assert "acme_boxes" in spec.withheld
        with pytest.raises(UsageError, match="acme_boxes cannot be preloaded"):
            root_spec(Profile(kind=kind, role=role, preload=("acme_boxes.cheats",)))

    def test_packages_and_contents_below_usr_are_covered_for_programs(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Any folders that exist there stand for an environment and for an editable install.
        site, contents, inside = "/usr/share", "/usr/bin", "/usr/share/doc"
        monkeypatch.setattr(rootfs, "site_directories", lambda: [inside, site, "/etc"])
        monkeypatch.setattr(rootfs, "content_folders", lambda: [contents, "/var"])
        masks = root_spec(Profile(kind=Kind.PROGRAM)).masks
        assert {site, contents} <= {*masks}
        assert not {"/etc", "/var", inside} & {*masks}
        assert not {site, contents} & {*root_spec(Profile()).masks}

    def test_a_bind_mounts_the_real_file_at_its_target(self, tmp_path: Path) -> None:
        (tmp_path / "data").write_text("x")
        (tmp_path / "link").symlink_to("data")
        profile = Profile(kind=Kind.PROGRAM, binds=((str(tmp_path / "link"), "/data/in"),))
        assert [str(tmp_path / "data"), "/data/in"] in root_spec(profile).binds

    def test_a_bind_of_a_missing_file_is_an_error_that_names_it(self) -> None:
        with pytest.raises(UsageError, match="/no/such/file"):
            root_spec(Profile(binds=(("/no/such/file", "/x"),)))

    @pytest.mark.parametrize("place", ["/tmp", "/dev", "/home/agent", "/scratch", "/workspace"])
    def test_what_stands_at_a_place_of_the_sandbox_is_shown_elsewhere(self, place: str) -> None:
        assert inside(f"{place}/env") == f"/installed{place}/env"
        assert inside(f"{place}s/env") == f"{place}s/env"
        assert inside("/app/.venv", ["/app"]) == "/installed/app/.venv"
        assert inside("/app/.venv") == "/app/.venv"

    def test_a_python_below_tmp_moves_with_its_packages(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        prefix = Path(tempfile.mkdtemp(dir="/tmp"))
        (prefix / "bin").mkdir()
        (prefix / ".ssh").mkdir()
        site = prefix / "lib/python3.11/site-packages"
        site.mkdir(parents=True)
        monkeypatch.setattr(sys, "base_prefix", str(prefix))
        monkeypatch.setattr(sys, "path", [str(site)])
        spec = root_spec(Profile(kind=Kind.PROGRAM, site_packages=True))
        shutil.rmtree(prefix)
        shown = {source: target for source, target in spec.binds if source.startswith("/tmp")}
        assert shown == {f"{prefix}/{one}": f"/installed{prefix}/{one}" for one in ("bin", "lib")}
        assert spec.sites == [[str(site), f"/installed{site}"]]
        assert f"/installed{site}" in spec.masks
        assert [str(prefix), f"/installed{prefix}"] in spec.moved

    def test_a_target_of_pip_is_a_folder_of_packages_and_a_mixed_one_is_not(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        for name in ("target", "mixed"):
            info = tmp_path / name / "acme-1.dist-info"
            info.mkdir(parents=True)
            (info / "RECORD").write_text("acme.py,,\n../bin/acme,,\nacme-1.dist-info/RECORD,,\n")
            (tmp_path / name / "acme.py").touch()
        (tmp_path / "mixed/diary.txt").touch()
        (tmp_path / "none").mkdir()
        places = [str(tmp_path / name) for name in ("target", "mixed", "none")]
        monkeypatch.setattr(sys, "path", places)
        assert site_directories() == places[:1]

    def test_copies_that_a_package_keeps_for_itself_are_a_part_of_it(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        site, own = tmp_path / "site-packages", tmp_path / "site-packages/acme/vendor"
        (own / "acme_part-1.dist-info").mkdir(parents=True)
        (own / "acme_part-1.dist-info/RECORD").write_text("acme_part/__init__.py,,\n")
        (own / "acme_part").mkdir()
        (own / "acme_part/__init__.py").touch()
        (site / "acme_top.py").touch()
        monkeypatch.setattr(sys, "path", [str(own), str(site)])
        assert site_directories() == [str(site)]
        names = ["acme_top", "acme_part"]
        assert packages_beside(names) == {"acme_part": str(own / "acme_part")}

    def test_a_preloaded_package_of_an_editable_install_is_shown_without_its_neighbours(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "acme_own").mkdir()
        (tmp_path / "acme_own/__init__.py").touch()
        (tmp_path / "acme_answers.py").touch()
        monkeypatch.syspath_prepend(tmp_path)
        assert packages_beside(["acme_own.sub", "json", "unhack", "no_such"]) == {
            "acme_own": str(tmp_path / "acme_own")
        }
        spec = root_spec(Profile(preload=("acme_own.sub",)))
        assert [source for source, _ in spec.binds if source.startswith(str(tmp_path))] == [
            str(tmp_path / "acme_own")
        ]
        assert spec.site_paths[-1] == "/installed/beside"

    def test_the_interpreter_is_the_real_one_not_a_link(self) -> None:
        assert os.path.realpath(interpreter()) == interpreter()
        assert os.access(interpreter(), os.X_OK)


LIST = """
import os
def f(path):
    try:
        return sorted(os.listdir(path))
    except OSError as error:
        return error.errno
"""
READ = """
def f(path):
    try:
        with open(path, "rb") as file:
            return len(file.read())
    except OSError as error:
        return error.errno
"""
WRITE = """
import os
def f(paths):
    made = []
    for path in paths:
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
            made.append(path)
        except OSError:
            pass
    return made
"""


class TestInAJob:
    @pytest.mark.parametrize("path", [p for p in PRIVATE if p != "/root"])
    def test_private_paths_do_not_exist(self, evaluate: Callable[..., Any], path: str) -> None:
        assert evaluate(LIST, path) == 2
        assert evaluate(READ, path) == 2

    def test_the_root_directory_holds_only_what_was_mounted(
        self, evaluate: Callable[..., Any]
    ) -> None:
        allowed = {"bin", "sbin", "lib", "lib64", "lib32", "libx32", "usr", "etc", "dev", ".sites"}
        allowed |= {Path(source).parts[1] for source, _ in root_spec(Profile()).binds}
        assert set(evaluate(LIST, "/")) <= allowed

    def test_etc_holds_only_the_cache_of_the_loader(self, evaluate: Callable[..., Any]) -> None:
        assert evaluate(LIST, "/etc") in ([], ["ld.so.cache"], 2)

    def test_this_test_and_this_package_are_out_of_sight(
        self, evaluate: Callable[..., Any]
    ) -> None:
        import unhack

        assert evaluate(READ, __file__) == 2
        assert evaluate(READ, unhack.__file__) == 2

    def test_nothing_can_be_written_anywhere(self, evaluate: Callable[..., Any]) -> None:
        library = os.path.dirname(os.path.realpath(os.__file__))
        places = ["/", "/tmp", "/dev", "/etc", "/usr", "/usr/lib", "/scratch/work", library]
        assert evaluate(WRITE, [f"{place}/made" for place in places]) == []

    def test_a_scratch_job_writes_in_its_directory_only(self, evaluate: Callable[..., Any]) -> None:
        library = os.path.dirname(os.path.realpath(os.__file__))
        places = ["/", "/dev", "/etc", "/usr/lib", "/scratch", library, "/tmp", "/scratch/work"]
        made = evaluate(
            WRITE, [f"{place}/made" for place in places], profile=Profile(kind=Kind.SCRATCH)
        )
        assert made == ["/tmp/made", "/scratch/work/made"]

    def test_scratch_space_is_empty_for_every_job(self, evaluate: Callable[..., Any]) -> None:
        source = """
import os
def f():
    before = os.listdir(".")
    open("left", "w").write("x")
    return [os.getcwd(), before]
"""
        profile = Profile(kind=Kind.SCRATCH)
        for _ in range(4):
            assert evaluate(source, profile=profile) == ["/scratch/work", []]

    def test_preloaded_modules_are_all_that_is_seen_of_site_packages(
        self, evaluate: Callable[..., Any]
    ) -> None:
        source = """
def f(names):
    found = []
    for name in names:
        try:
            __import__(name)
            found.append(name)
        except ImportError:
            pass
    return found
"""
        names = ["iniconfig", "pytest", "hypothesis", "pydantic"]
        profile = Profile(preload=("iniconfig",))
        assert evaluate(source, names, profile=profile) == ["iniconfig"]
        # The part of this package that runs jobs is loaded; the rest of it is not there.
        assert evaluate(source, ["unhack.tasks.suite"], profile=profile) == []
        assert evaluate(source, names) == []
