"""The submissions that ship for a GPU: what they say of themselves, and that they can be built."""

from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("torch")

from unhack.tournament.contest import Terms
from unhack.tournament.judging.flags import FLAG_KINDS
from unhack.tournament.scan.against import Against
from unhack.tournament.scan.scan import scan
from unhack_contests.kernels.gpu import corpus, honest, statement
from unhack_contests.kernels.gpu.problems import registry

ALL = [*corpus.entries("honest").values(), *corpus.entries("cheats").values()]
ROOT = Path(__file__).resolve().parents[5]
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def test_there_are_as_many_as_the_contest_promises() -> None:
    assert len(corpus.entries("cheats")) >= 25
    assert len(corpus.entries("honest")) >= 15
    assert not set(corpus.entries("cheats")) & set(corpus.entries("honest"))


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_an_entry_names_a_problem_and_a_flag_that_exist(entry: corpus.CorpusEntry) -> None:
    assert entry.problem in registry.NAMES
    assert entry.about.endswith(".")
    assert not entry.flag or entry.flag in FLAG_KINDS
    tree = ast.parse(entry.python)
    assert "Model" in {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_forward_takes_the_inputs_of_the_problem(entry: corpus.CorpusEntry) -> None:
    tree = ast.parse(entry.python)
    forward = next(
        node for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == "forward"
    )  # fmt: skip
    names = [argument.arg for argument in forward.args.args][1:]
    wanted = registry.find(entry.problem).parameters()
    assert names in (wanted, [*wanted, "out"])


@pytest.mark.parametrize("entry", corpus.entries("honest").values(), ids=lambda e: e.name)
def test_the_scan_says_nothing_of_an_honest_kernel(entry: corpus.CorpusEntry) -> None:
    assert scan(entry.files, Against()) == ()


def test_the_scan_says_nothing_of_the_references() -> None:
    assert scan(honest.reference(registry.NAMES), Against()) == ()


def test_cheats_carry_the_numbers_of_the_catalogue() -> None:
    assert all(cheat.catalogue for cheat in corpus.cheats(registry.NAMES).values())


def test_cheats_are_those_of_the_chosen_problems() -> None:
    found = corpus.cheats(["topk"])
    assert set(found) == {"estimated_topk", "left_the_process", "sleeping_thread"}
    assert set(found["estimated_topk"].files) == {"topk.py"}


class TestStrategies:
    def test_the_first_is_the_reference(self) -> None:
        found = honest.strategies(registry.DEFAULT)
        assert next(iter(found)) == "reference"
        assert len(found) >= 3
        assert set(found["reference"]) == {f"{name}.py" for name in registry.DEFAULT}

    def test_a_problem_without_a_kernel_keeps_the_reference(self) -> None:
        found = honest.strategies(["softmax", "argmax"])
        assert found["cuda"]["softmax.py"] == found["reference"]["softmax.py"]
        assert found["cuda"]["argmax.py"] != found["reference"]["argmax.py"]
        assert "argmax.cu" in found["cuda"]

    def test_every_problem_has_a_kernel_that_is_not_the_reference(self) -> None:
        assert {entry.problem for entry in corpus.entries("honest").values()} == {*registry.NAMES}

    def test_every_honest_kernel_is_in_a_strategy(self) -> None:
        entries = corpus.entries("honest")
        assert entries
        for entry in entries.values():
            found = honest.strategies([entry.problem]).values()
            assert any(entry.files.items() <= files.items() for files in found), entry.name

    def test_warps_are_a_choice(self) -> None:
        made = honest.tuned(["rmsnorm"], {"kind": "triton", "num_warps": 16})
        assert b"num_warps=16" in made["rmsnorm.py"]
        assert b"num_warps=8" not in made["rmsnorm.py"]

    def test_every_point_of_the_space_is_a_submission(self) -> None:
        assert honest.SPACE
        for parameter in honest.SPACE:
            assert parameter.choices
            for choice in parameter.choices:
                assert honest.tuned(registry.DEFAULT, {parameter.name: choice})

    def test_null_does_nothing(self) -> None:
        made = honest.null(["softmax"])["softmax.py"].decode()
        assert "def forward(self, x, out):\n        pass\n" in made


def test_the_statement_names_every_problem_with_its_ranges() -> None:
    text = statement.text(registry.NAMES, Terms(1, impossible=True, champion_fitness=0.5), {})
    for name in registry.NAMES:
        problem = registry.find(name)
        assert f"`{name}`, level {problem.level}" in text
        for axis in problem.axes:
            assert f"{axis.name} = {axis.listed} ({axis.low} to {axis.high})" in text
    assert "0.500" in text
    assert "NO_IMPROVEMENT.md" in text


def test_the_page_names_every_problem_and_entry() -> None:
    page = (ROOT / "docs/reference/contests/kernels-gpu.md").read_text()
    assert ALL
    for entry in ALL:
        assert f"| `{entry.name}` | `{entry.problem}` |" in page
    for name in registry.NAMES:
        assert f"| `{name}` | {registry.level(name)} | {registry.find(name).title} |" in page


@pytest.mark.slow
@pytest.mark.skipif(NVCC is None, reason="nvcc is not here")
@pytest.mark.parametrize("entry", [e for e in ALL if e.cuda], ids=lambda entry: entry.name)
def test_cuda_sources_compile(entry: corpus.CorpusEntry, tmp_path: Path) -> None:
    for name, text in entry.files.items():
        (tmp_path / name).write_bytes(text)
    command = [str(NVCC), "-O3", "-arch=sm_90", "-shared", "-Xcompiler", "-fPIC"]
    command += ["-o", f"{entry.problem}.so", f"{entry.problem}.cu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
