"""Changed files keep to the declared paths, or are refused."""

import json

import pytest

from unhack.verifiers.repository.files import (
    MAX_BYTES,
    RefusedFilesError,
    lay,
    may_change,
    pack_files,
    unpack_files,
)

BASE = {"pkg/__init__.py": b"", "pkg/core.py": b"x = 1\n", "README": b"", "pkg/Data.txt": b"a"}


def laid(files: dict[str, str | None], *, editable: tuple[str, ...] = ("pkg/", "src/")):
    changed = unpack_files(pack_files(files))
    return lay(BASE, changed, editable=editable, roots=("src", ""), reserved={"tests"})


def test_new_changed_and_deleted_files_are_laid():
    tree, left_out = laid({"pkg/new/a.py": "y = 'é'\n", "pkg/core.py": "", "pkg/Data.txt": None})
    assert tree["pkg/new/a.py"] == "y = 'é'\n".encode()
    assert tree["pkg/core.py"] == b""
    assert "pkg/Data.txt" not in tree
    assert left_out == ()


def test_bytes_that_are_no_text_cross_as_surrogates():
    text = b"\xff\x00raw".decode("utf-8", "surrogateescape")
    assert laid({"pkg/blob.bin": text})[0]["pkg/blob.bin"] == b"\xff\x00raw"


@pytest.mark.parametrize(
    "path",
    [
        "README", "pkg", "tests/a.py", "other/a.txt", "/pkg/a.py", "pkg//a.py", "pkg/../README",
        "pkg/./a.py", "pkg/a\x00.py", "pkg/a.py/", "../pkg/a.py", "", "c:/pkg/a.txt",
        "pkg/core.py/inner.py",
    ],
)  # fmt: skip
def test_a_path_outside_what_is_declared_is_refused(path: str):
    with pytest.raises(RefusedFilesError):
        laid({path: "x"})


@pytest.mark.parametrize(
    "path", ["pkg/\u0441ore.py", "pkg/donn\u00e9es.txt", "pkg/ core.py", "pkg/end ", "pkg/a:b",
             "pkg/CORE.py", "pkg/a\\b.py", "helper.py", "helpers/__init__.py", "helpers/a/b.py"],
)  # fmt: skip
def test_odd_names_and_new_helpers_are_taken(path: str):
    tree, left_out = laid({path: "x"})
    assert tree[path] == b"x"
    assert left_out == ()


@pytest.mark.parametrize(
    "path", ["src/json.py", "src/pytest.py", "src/_pytest/__init__.py", "src/json/a.py", "json.py",
             "pytest.py", "pluggy/__init__.py", "pkg/\n.py", "pkg/" + "a" * 300, "pkg/\udcff"],
)  # fmt: skip
def test_a_name_that_would_stand_for_something_else_is_left_out(path: str):
    changed = {path: b"x", "pkg/core.py": b"y"}
    tree, left_out = lay(BASE, changed, editable=("pkg/", "src/"), roots=("src", ""))
    assert path not in tree
    assert left_out == (path,)
    assert tree["pkg/core.py"] == b"y"


@pytest.mark.parametrize(
    "path", ["pkg/conftest.py", "pkg/__pycache__/core.cpython-311.pyc", "pkg/a.pyc", "src/a.pth",
             "src/sitecustomize.py", "pkg/.git/hooks/pre-commit"],
)  # fmt: skip
def test_hooks_and_caches_are_left_out_and_refuse_nothing(path: str):
    tree, left_out = laid({path: "x", "pkg/core.py": "y"})
    assert path not in tree
    assert left_out == (path,)
    assert tree["pkg/core.py"] == b"y"


def test_a_module_inside_a_package_may_have_the_name_of_a_standard_one():
    assert "pkg/json.py" in laid({"pkg/json.py": "", "pkg/types/__init__.py": ""})[0]


def test_a_top_level_module_of_the_base_may_be_changed_whatever_its_name():
    base = {**BASE, "src/types.py": b""}
    changed = unpack_files(pack_files({"src/types.py": "x = 1"}))
    assert lay(base, changed, editable=("src/",), roots=("src",))[0]["src/types.py"] == b"x = 1"


@pytest.mark.parametrize(
    "text",
    ["", "nope", "[]", '"x"', '{"pkg/a.py": 1}', '{"pkg/a.py": "a", "pkg/a.py": "b"}',
     '{"pkg/a.py": "\\ud800"}', "[" * 100_000,
     json.dumps({f"pkg/{n}.py": "" for n in range(1001)}),
     json.dumps({"pkg/a.py": "a" * (MAX_BYTES + 1)})],
)  # fmt: skip
def test_a_completion_that_is_no_mapping_of_texts_is_refused(text: str):
    with pytest.raises(RefusedFilesError):
        unpack_files(text)


def test_a_declared_folder_stands_for_the_files_below_it():
    assert may_change("pkg/a/b.py", ("pkg/",))
    assert not may_change("pkg/a.py", ("pkg",))
    assert may_change("one.py", ("one.py",))
