"""The engine as the shipped contests see it: the kit, and a list that only shrinks."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import unhack_contests
from unhack.tournament import kit

SOURCES = Path(unhack_contests.__file__).parent
KIT = "unhack.tournament.kit"
FURTHER = frozenset(
    {
        "unhack.agents.command_line.host_files",
        "unhack.audit",
        "unhack.audit.subject",
        "unhack.audit.subjects.function_subject",
        "unhack.audit.subjects.signatures",
        "unhack.audit.subjects.target",
        "unhack.models.config",
        "unhack.models.corpus",
        "unhack.models.programs",
        "unhack.sandbox.gpu.card_queue",
        "unhack.sandbox.gpu.cards",
        "unhack.sandbox.gpu.process",
        "unhack.sandbox.rootfs",
        "unhack.store.files",
        "unhack.tournament.scan.reading.csource",
        "unhack.verifiers.jobs",
    }
)
"""Modules of the engine that contests import beside the kit. Take entries away; add none: what a
new contest needs belongs into the kit."""


def _imported(source: str) -> set[str]:
    """Modules of the engine that a source text imports, a submodule by its own name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            place = Path(kit.__file__).parents[2].joinpath(*node.module.split("."))
            for one in node.names:
                inner = (place / f"{one.name}.py").is_file() or (place / one.name).is_dir()
                found.add(f"{node.module}.{one.name}" if inner else node.module)
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return {name for name in found if name.partition(".")[0] == "unhack"}


def test_contests_import_the_kit_and_the_listed_modules_alone() -> None:
    files = sorted(SOURCES.rglob("*.py"))
    found = {name for path in files for name in _imported(path.read_text())}
    assert found == {KIT, *FURTHER}


def test_an_import_of_a_submodule_is_told_from_one_of_a_name() -> None:
    source = "from unhack.models import corpus\nfrom unhack.core.errors import UsageError\n"
    assert _imported(source + "import unhack.store.files\nimport json\n") == {
        "unhack.models.corpus",
        "unhack.core.errors",
        "unhack.store.files",
    }


def test_every_name_of_the_kit_is_there() -> None:
    assert kit.__all__
    assert [name for name in kit.__all__ if not hasattr(kit, name)] == []


def test_the_kit_loads_neither_numpy_nor_torch() -> None:
    code = (
        f"import sys, {KIT}; sys.exit(bool({{'numpy', 'torch', 'pydantic'}} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
