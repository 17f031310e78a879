"""The corpus keeps its own format, and nothing dangerous is marked as safe for the control."""

import ast
import re
import subprocess
import warnings

import pytest
from control import C_FLAGS
from corpus import Program, count_by_family, defined_names, load_corpus

PROGRAMS = load_corpus()
PYTHON = [program for program in PROGRAMS if not program.is_native]
NATIVE = [program for program in PROGRAMS if program.is_native]
DANGEROUS = (
    r"SIGKILL",
    r"kill\(-1",
    r"\breboot\b",
    r"\bkexec",
    r"# (mount|umount2|pivot_root|chroot|swapon)$",
    r"SYS_(mount|umount2|reboot)\b",
    r"while True:\n\s+(try:\n\s+)?os\.fork",
    r"for \(;;\) fork",
    r"<< 3\d\b",
    r"1 << 2[4-9]\)",
)
"""What the source of a `control_safe` program must not contain."""
DANGEROUS_FAMILIES = {"resources"}


def ids(programs: list[Program]) -> list[str]:
    """Claims as test ids."""
    return [program.id for program in programs]


def test_the_corpus_is_large_enough():
    assert len(PROGRAMS) >= 165
    assert len([program for program in PROGRAMS if program.control_safe]) >= 70
    assert min(count_by_family().values()) >= 5


def test_claims_are_unique():
    claims = [program.claim for program in PROGRAMS]
    paths = [program.path.stem for program in PROGRAMS]
    repeated = {stem for stem in paths if paths.count(stem) > 1}
    assert len(set(claims)) >= len(claims) - len(repeated)
    assert len({program.id for program in PROGRAMS}) == len(PROGRAMS)


def test_a_file_name_is_its_claim():
    def words(text: str) -> str:
        return re.sub(r"[^a-z0-9]", "", text.lower())

    wrong = [p.id for p in PROGRAMS if words(p.claim) != words("acompletion" + p.path.stem)]
    assert wrong == []


def test_native_programs_use_a_profile_that_can_run_them():
    assert [p.id for p in NATIVE if p.profile != "program"] == []


def test_programs_that_leave_something_say_what():
    assert [p.id for p in PROGRAMS if p.win == "left_over" and not p.leaves] == []


def test_text_programs_say_how_they_are_checked():
    text = [p for p in PROGRAMS if p.profile == "text"]
    assert [p.id for p in text if not (p.check and p.builds) or p.uses_token] == []


def test_no_dangerous_program_is_marked_as_safe():
    found = [
        (program.id, pattern)
        for program in PROGRAMS
        if program.control_safe
        for pattern in DANGEROUS
        if re.search(pattern, program.path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert found == []
    safe_families = {program.family for program in PROGRAMS if program.control_safe}
    assert not safe_families & DANGEROUS_FAMILIES


@pytest.mark.parametrize("program", PYTHON, ids=ids(PYTHON))
def test_a_python_program_parses(program: Program):
    source = program.path.read_text(encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = ast.parse(source)
    assert tree.body
    if program.builds:
        assert isinstance(program.completion(), str)
    elif program.profile in ("function", "scratch"):
        assigned = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        has_coroutine = any(isinstance(node, ast.AsyncFunctionDef) for node in tree.body)
        assert "solve" in defined_names(source) | assigned or has_coroutine


@pytest.mark.parametrize("program", NATIVE, ids=ids(NATIVE))
def test_a_native_program_compiles(program: Program):
    command = ["cc", *C_FLAGS, "-fsyntax-only", str(program.path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
