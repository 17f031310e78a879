"""The verdict on an output: right, or in which way it is not."""

from __future__ import annotations

from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

from unhack_contests.kernels.gpu import oracle  # noqa: E402
from unhack_contests.kernels.gpu.oracle import OutputKind  # noqa: E402
from unhack_contests.kernels.gpu.problems import registry  # noqa: E402


@pytest.fixture(autouse=True)
def on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "DEVICE", "cpu")


def question(name: str, earlier: int = 0) -> oracle.Asked:
    case = oracle.load(torch, name, seed=1, small=True)
    inputs = case.inputs(hidden=False, seed=2)
    reference = case.subject.truth(inputs, {}, plain=True)
    bits = {2: 0x7FC3, 4: 0x7FC00003, 8: 0x7FF8000000000003}[reference.dtype.itemsize]
    kind = {2: torch.int16, 4: torch.int32, 8: torch.int64}[reference.dtype.itemsize]
    poison = torch.full((reference.numel(),), bits, dtype=kind).view(torch.uint8)
    old = [case.truth(case.inputs(hidden=False, seed=10 + i)) for i in range(earlier)]
    return oracle.Asked(case, inputs, case.truth(inputs), reference, poison, old)


def poisoned(asked: oracle.Asked) -> Any:
    output = torch.empty_like(asked.reference)
    output.view(-1).view(torch.uint8).copy_(asked.poison)
    return output


def kind_of(output: Any, asked: oracle.Asked) -> OutputKind:
    return oracle.examine(output, asked).kind


@pytest.mark.parametrize("name", registry.NAMES)
class TestOfEveryProblem:
    def test_the_reference_is_right(self, name: str) -> None:
        asked = question(name)
        assert kind_of(asked.reference, asked) is OutputKind.RIGHT

    def test_what_was_there_before_is_untouched(self, name: str) -> None:
        asked = question(name)
        assert kind_of(poisoned(asked), asked) is OutputKind.UNTOUCHED

    def test_the_answer_to_an_earlier_call_is_replayed(self, name: str) -> None:
        asked = question(name, earlier=2)
        assert kind_of(asked.earlier[0].to(asked.reference.dtype), asked) is OutputKind.REPLAYED

    def test_half_of_the_answer_is_partial(self, name: str) -> None:
        asked = question(name)
        output, middle = poisoned(asked).flatten(), asked.reference.numel() // 2
        output[:middle] = asked.reference.flatten()[:middle]
        made = output.view(asked.reference.shape)
        assert kind_of(made, asked) is OutputKind.PARTIAL

    def test_zeros_are_constant(self, name: str) -> None:
        asked = question(name)
        assert kind_of(torch.zeros_like(asked.reference), asked) is OutputKind.CONSTANT

    def test_one_wrong_element_is_wrong(self, name: str) -> None:
        asked = question(name)
        output = asked.reference.clone()
        output.view(-1)[output.numel() // 3] += 3
        assert kind_of(output, asked) is OutputKind.WRONG

    def test_a_nan_is_never_right(self, name: str) -> None:
        asked = question(name)
        if not asked.reference.is_floating_point():
            pytest.skip("whole numbers")
        output = asked.reference.clone()
        output.view(-1)[0] = float("nan")
        assert kind_of(output, asked) is not OutputKind.RIGHT

    def test_inputs_alike_share_their_ends_and_have_another_answer(self, name: str) -> None:
        asked = question(name)
        made = asked.case.alike(asked.inputs, hidden=False, seed=5)
        floats = [
            (a.flatten(), b.flatten())
            for a, b in zip(asked.inputs, made, strict=True)
            if a.is_floating_point() and a.numel() >= 16
        ]
        assert floats
        for old, new in floats:
            share = old.numel() // 8
            assert torch.equal(old[:share], new[:share])
            assert torch.equal(old[-share // 8 :], new[-share // 8 :])
        again = asked.case.truth(made)
        assert again.shape == asked.truth.shape
        assert not torch.equal(again, asked.truth)
        fresh = oracle.Asked(asked.case, made, again, asked.reference, asked.poison, [asked.truth])
        assert kind_of(asked.truth.to(asked.reference.dtype), fresh) is OutputKind.REPLAYED

    def test_shapes_and_values_are_drawn_by_their_seeds(self, name: str) -> None:
        one, same = (oracle.load(torch, name, seed=3, small=True) for _ in range(2))
        assert one.subject.shapes == same.subject.shapes
        pairs = zip(one.inputs(hidden=True, seed=4), same.inputs(hidden=True, seed=4), strict=True)
        assert all(torch.equal(a, b) for a, b in pairs)


def test_the_input_itself_is_copied() -> None:
    asked = question("rmsnorm")
    assert kind_of(asked.inputs[0].clone(), asked) is OutputKind.COPIED


def test_flushed_subnormal_numbers_are_those_of_a_narrower_format() -> None:
    asked = question("transpose")
    tiny = torch.finfo(torch.float32).tiny
    output = torch.where(asked.reference.abs() < tiny, 0.0, asked.reference)
    assert kind_of(output, asked) is OutputKind.NARROW


def test_the_first_of_several_is_asked_for() -> None:
    asked = question("argmax")
    x = asked.inputs[0]
    last = x.shape[1] - 1 - torch.argmax(x.flip(1), dim=1)
    assert not torch.equal(last, asked.truth)
    assert kind_of(last, asked) is OutputKind.WRONG


def test_a_reference_that_errs_beyond_honest_arithmetic_moves_no_line() -> None:
    asked = question("rmsnorm")
    loose = oracle.Asked(
        asked.case, asked.inputs, asked.truth, asked.reference * 1.5, asked.poison, []
    )
    assert kind_of((asked.reference * 1.4), loose) is not OutputKind.RIGHT
