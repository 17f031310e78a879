"""Every line knows its place: bounds on the figures of `structure.py`."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from .source_roots import ROOT, modules_of, source_roots
from .structure import (
    MAX_SIBLINGS,
    VAGUE_FIRST_WORDS,
    code_in_init,
    docstrings,
    late_imports,
    public_names,
    shared_class_names,
    siblings,
)

# They read every file: once in CI, and by name while one writes.
pytestmark = [pytest.mark.slow, pytest.mark.sample]


every_package = pytest.mark.parametrize("package", source_roots(), ids=lambda path: path.name)


def test_every_distribution_is_looked_at() -> None:
    names = {package.name for package in source_roots()}
    assert names >= {"unhack", "unhack_contests", "unhack_suites", "unhack_verifier_bench"}
    files = {path for package in source_roots() for path in modules_of(package)}
    assert ROOT / "src/unhack/sandbox/guest/server/fork_server.py" in files
    assert len(files) > 1200
    assert not [path for path in files if (path.parent / "task.toml").exists()]


def test_a_public_class_name_stands_in_one_file() -> None:
    assert shared_class_names(source_roots()) == {}


@every_package
def test_a_folder_can_be_read_at_a_glance(package: Path) -> None:
    assert {name: count for name, count in siblings(package).items() if count > MAX_SIBLINGS} == {}


@every_package
def test_an_import_inside_a_function_has_its_reason_beside_it(package: Path) -> None:
    assert late_imports(package) == []


@every_package
def test_an_init_hands_names_on_and_does_nothing_else(package: Path) -> None:
    assert code_in_init(package) == {}


@every_package
def test_a_docstring_begins_with_the_thing_or_the_act(package: Path) -> None:
    vague = [
        f"{path.name}:{line}: {text.splitlines()[0]}"
        for path in modules_of(package)
        for line, text in docstrings(path)
        if text.split()[:1] and text.split()[0] in VAGUE_FIRST_WORDS
    ]
    assert vague == []


def test_the_public_api_fits_on_a_page() -> None:
    assert 0 < len(public_names(ROOT / "src" / "unhack")) <= 20


class TestTheFiguresThemselves:
    """Each figure finds what it is made to find."""

    def test_a_bad_tree_is_seen_in_every_figure(self, tmp_path: Path) -> None:
        (tmp_path / "room").mkdir()
        (tmp_path / "tasks" / "one").mkdir(parents=True)
        (tmp_path / "__init__.py").write_text("__all__ = ['A', 'B']\n")
        (tmp_path / "room" / "__init__.py").write_text('"""A room."""\nimport os\nX = os.sep\n')
        source = '''
            """What it does."""
            class Same:
                """A class."""
                field: int
                """Whether it is."""
            def late():
                from unhack.room import other
                # Heavy, and few callers want it.
                from unhack.room import heavy
                return other, heavy
            '''
        (tmp_path / "one.py").write_text(textwrap.dedent(source))
        (tmp_path / "room" / "two.py").write_text("class Same: ...\nclass _Same: ...\n")
        (tmp_path / "tasks" / "one" / "data.py").write_text("class Same: ...\n")

        top = tmp_path.name
        assert shared_class_names([tmp_path]) == {"Same": [f"{top}/one.py", f"{top}/room/two.py"]}
        assert siblings(tmp_path) == {".": 2, "room": 1}
        assert late_imports(tmp_path) == ["one.py:8"]
        assert late_imports(tmp_path, unexplained=False) == ["one.py:10", "one.py:8"]
        assert code_in_init(tmp_path) == {"room/__init__.py": ["X = os.sep"]}
        texts = [text for _, text in docstrings(tmp_path / "one.py")]
        assert texts == ["What it does.", "A class.", "Whether it is."]
        assert public_names(tmp_path) == ["A", "B"]
