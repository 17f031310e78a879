"""Modules of a verifier's own folder or package are read with it."""

from pathlib import Path

from unhack.audit.static_analysis.suspicions import constants, suspicions_of
from unhack.audit.subjects.recording import imported_modules, source_of
from unhack.audit.subjects.target import Module, find_target

ENTRY = "from .inner import compare\n\n\ndef reward(completion, answer):\n    return compare()\n"
INNER = (
    "import json\n\nfrom grading import deep\n\n\ndef compare(completion, answer):\n"
    "    return float(answer in completion)\n"
)


def package(folder: Path) -> Path:
    home = folder / "grading"
    home.mkdir()
    (home / "__init__.py").write_text("")
    (home / "entry.py").write_text(ENTRY)
    (home / "inner.py").write_text(INNER)
    (home / "deep.py").write_text("from grading import entry\n\nWORD = 'CORRECT'\n")
    (home / "unused.py").write_text("OTHER = 1\n")
    return home / "entry.py"


def test_imports_are_followed_through_the_package(tmp_path: Path) -> None:
    module = find_target(f"{package(tmp_path)}:reward").module
    found = [one.path.name for one in imported_modules(module)]
    assert found[0] == "inner.py"
    assert set(found) == {"inner.py", "deep.py"}


def test_suspicions_name_the_file_that_they_are_about(tmp_path: Path) -> None:
    module = find_target(f"{package(tmp_path)}:reward").module
    source = source_of(module, entry="reward")
    found = [one for one in suspicions_of(source) if one.flaw == "substring_match"]
    assert [Path(one.path).name for one in found] == ["inner.py"]
    assert "CORRECT" in constants(source)


def test_modules_that_cannot_be_parsed_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "verifier.py").write_text("import broken\nimport json\nfrom helper import f\n")
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "helper.py").write_text("def f():\n    return 1\n")
    module = Module(tmp_path / "verifier.py", "verifier", tmp_path)
    assert [one.path.name for one in imported_modules(module)] == ["helper.py"]
