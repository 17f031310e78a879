"""Problem files in KernelBench's form: what is accepted, what is named when it is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

from unhack.core.errors import UnknownNameError, UsageError  # noqa: E402
from unhack_contests.kernels.gpu import kernelbench, oracle, settings  # noqa: E402

LINEAR = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.layer = nn.Linear(inner, outer)
        self.norm = nn.BatchNorm1d(outer)

    def forward(self, x):
        return torch.relu(self.norm(self.layer(x)))


batch_size = 12


def get_inputs():
    return [torch.randn(batch_size, 6)]


def get_init_inputs():
    return [6, 10]
"""


def file(head: str, shapes: str, body: str, init: str = "") -> str:
    """A problem without weights: `head` are the parameters of forward."""
    return (
        "import torch\nfrom torch import nn\n\n\nclass Model(nn.Module):\n"
        f"    def forward(self, {head}):\n        {body}\n\n\n"
        f"def get_inputs():\n    return [{shapes}]\n\n\n"
        f"def get_init_inputs():\n    return [{init}]\n"
    )


@pytest.fixture(autouse=True)
def on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "DEVICE", "cpu")


def written(folder: Path, text: str, name: str = "level1/1_Thing.py") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


class TestReading:
    def test_levels_and_names_are_those_of_folders_and_files(self, tmp_path: Path) -> None:
        written(tmp_path, LINEAR, "KernelBench/level1/3_Linear.py")
        written(tmp_path, LINEAR, "KernelBench/level2/40_Other.py")
        written(tmp_path, "", "KernelBench/level2/__init__.py")
        found = kernelbench.load(tmp_path)
        assert {name: file.level for name, file in found.items()} == {"3_Linear": 1, "40_Other": 2}

    def test_a_level_or_one_file_may_be_given(self, tmp_path: Path) -> None:
        path = written(tmp_path, LINEAR)
        assert list(kernelbench.load(path.parent)) == ["1_Thing"]
        assert kernelbench.load(path)["1_Thing"].level == 1

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ("class Model", "class Modell", r"no class Model \(but Modell\)"),
            ("get_inputs", "get_input", r"no function get_inputs \(but get_in"),
            ("def get_init_inputs()", "def get_init_inputs(n)", "get_init_inputs needs arguments"),
            ("def forward", "def forwards", "no forward"),
            ("class Model(nn.Module):", "Model = 1\nclass Other:", "no class Model"),
            ("batch_size = 12", "batch_size = = 12", "line 16: "),
        ],
    )
    def test_the_error_names_the_file_and_what_is_missing(
        self, tmp_path: Path, old: str, new: str, words: str
    ) -> None:
        path = written(tmp_path, LINEAR.replace(old, new))
        with pytest.raises(UsageError, match=words) as caught:
            kernelbench.load(tmp_path)
        assert str(path) in str(caught.value)

    def test_all_that_is_missing_is_named_at_once(self, tmp_path: Path) -> None:
        written(tmp_path, "x = 1\n")
        with pytest.raises(UsageError, match=r"Model;.*get_inputs;.*get_init_inputs"):
            kernelbench.load(tmp_path)

    def test_nothing_runs_while_files_are_read(self, tmp_path: Path) -> None:
        written(tmp_path, f"raise SystemExit('it ran')\n{LINEAR}")
        assert list(kernelbench.load(tmp_path)) == ["1_Thing"]

    def test_a_folder_without_problems_says_what_was_expected(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"level1/NAME\.py"):
            kernelbench.load(tmp_path)
        with pytest.raises(UsageError, match="no file and no folder"):
            kernelbench.load(tmp_path / "absent")

    def test_two_files_of_one_name_are_refused(self, tmp_path: Path) -> None:
        written(tmp_path, LINEAR, "level1/1_Thing.py")
        written(tmp_path, LINEAR, "level2/1_Thing.py")
        with pytest.raises(UsageError, match="go by name"):
            kernelbench.load(tmp_path)

    def test_a_file_that_is_no_text_is_refused(self, tmp_path: Path) -> None:
        path = written(tmp_path, LINEAR)
        path.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(UsageError, match="no Python text"):
            kernelbench.load(tmp_path)


def case_of(folder: Path, text: str, *, seed: int = 1) -> oracle.GpuCase:
    written(folder, text)
    return oracle.load(torch, "1_Thing", seed=seed, folder=folder)


class TestRunning:
    def test_weights_are_the_judges_and_leave_out_nothing(self, tmp_path: Path) -> None:
        one, same, other = (case_of(tmp_path, LINEAR, seed=seed) for seed in (1, 1, 2))
        assert set(one.weights) > {"layer.weight", "layer.bias", "norm.weight", "norm.running_var"}
        assert torch.equal(one.weights["layer.weight"], same.weights["layer.weight"])
        assert not torch.equal(one.weights["layer.weight"], other.weights["layer.weight"])
        # A scale of ones and a shift of zeros would be what a submission could leave out.
        assert float(one.weights["norm.weight"].std()) > 0
        assert float(one.weights["norm.bias"].abs().min()) > 0
        assert one.weights["norm.num_batches_tracked"].dtype == torch.int64

    def test_the_truth_is_the_model_in_float64_with_these_weights(self, tmp_path: Path) -> None:
        case = case_of(tmp_path, LINEAR)
        inputs = case.inputs(hidden=False, seed=9)
        made: dict[str, Any] = {}
        exec(case.reference, made)
        model = made["Model"](*case.init)
        model.load_state_dict(case.weights)
        truth = case.truth(inputs)
        assert truth.dtype == torch.float64
        assert torch.allclose(model(*inputs).double(), truth, atol=1e-5)
        assert case.output_like(inputs) == ((12, 10), torch.float32)

    def test_a_hidden_batch_is_smaller_and_the_same_for_all_seeds(self, tmp_path: Path) -> None:
        case = case_of(tmp_path, LINEAR)
        shapes = {case.inputs(hidden=True, seed=seed)[0].shape for seed in range(5)}
        assert len(shapes) == 1
        assert 7 <= shapes.pop()[0] < 12
        first, second = (case.inputs(hidden=True, seed=seed)[0] for seed in (1, 2))
        assert not torch.equal(first, second)

    def test_rows_of_all_inputs_that_share_them_are_cut(self, tmp_path: Path) -> None:
        text = file("a, b", "torch.randn(30, 4), torch.randn(30, 4)", "return a + b")
        shapes = [tuple(x.shape) for x in case_of(tmp_path, text).inputs(hidden=True, seed=1)]
        assert shapes[0] == shapes[1]
        assert shapes[0][0] < 30

    def test_a_square_product_loses_rows_of_its_first_factor_alone(self, tmp_path: Path) -> None:
        text = file("a, b", "torch.randn(30, 30), torch.randn(30, 30)", "return a @ b")
        a, b = case_of(tmp_path, text).inputs(hidden=True, seed=1)
        assert a.shape[0] < 30
        assert b.shape == (30, 30)

    def test_a_model_of_one_shape_keeps_it(self, tmp_path: Path) -> None:
        text = file("x", "torch.randn(6, 4)", "return x * torch.ones(6, 4, dtype=x.dtype)")
        assert case_of(tmp_path, text).inputs(hidden=True, seed=1)[0].shape == (6, 4)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (file("x, s", "torch.randn(4), 3.0", "return x"), r"\[1\] is a float"),
            (file("x", "torch.randn(4)", "return x, x"), "gives a tuple"),
            (file("x", "torch.randn(4)", "return x + torch.randn(4)"), "at random"),
            (file("x", "torch.randn(4)", "return x / 0"), "infinities"),
            (file("x", "torch.randn(4)", "return x.nothing"), "fails: AttributeError"),
            (file("x", "torch.randn(4, dtype=torch.cfloat)", "return x"), "complex64"),
            (file("x", "torch.randn(4)", "return x", "object()"), "numbers, texts and lists"),
        ],
    )
    def test_what_cannot_be_judged_is_said_with_the_file(
        self, tmp_path: Path, text: str, words: str
    ) -> None:
        with pytest.raises(UsageError, match=words) as caught:
            case_of(tmp_path, text)
        assert "1_Thing.py" in str(caught.value)

    def test_an_unknown_name_gives_the_nearest(self, tmp_path: Path) -> None:
        written(tmp_path, LINEAR)
        with pytest.raises(UnknownNameError, match="1_Thing"):
            oracle.load(torch, "1_Think", seed=1, folder=tmp_path)


class TestItsFloor:
    roofline = settings.GpuRoofline(bytes_per_s=1.0, flops_per_s=1e30, half_flops_per_s=1e30)

    def test_only_what_the_output_depends_on_has_to_be_read(self, tmp_path: Path) -> None:
        text = file("x", "torch.randn(10, 8)", "return x[:, :2].sum(1)")
        case = case_of(tmp_path, text)
        inputs = case.inputs(hidden=False, seed=1)
        assert case.floor_s(inputs, self.roofline) == pytest.approx(0.9 * 4 * 20)

    def test_an_answer_that_is_always_the_same_needs_no_reading(self, tmp_path: Path) -> None:
        text = file("x", "torch.randn(10, 8)", "return x.detach() * 0.0")
        case = case_of(tmp_path, text)
        assert case.floor_s(case.inputs(hidden=False, seed=1), self.roofline) == 0
