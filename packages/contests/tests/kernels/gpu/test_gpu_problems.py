"""The GPU problems: oracles against written formulas, shapes, rooflines, accuracy."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

from scipy.special import erf  # noqa: E402

from unhack.core.errors import UnknownNameError  # noqa: E402
from unhack_contests.kernels.gpu import oracle, problem, settings  # noqa: E402
from unhack_contests.kernels.gpu.problems import registry  # noqa: E402

FLOATS = [name for name in registry.NAMES if not registry.find(name).exact]


@pytest.fixture(autouse=True)
def on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "DEVICE", "cpu")


def gelu(x: Any) -> Any:
    return x * (1 + erf(x / np.sqrt(x.dtype.type(2)))) / 2


def silu(x: Any) -> Any:
    return x / (1 + np.exp(-x))


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def product(a: Any, b: Any) -> Any:
    """One inner index after another."""
    total = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[1]):
        total = total + a[:, i : i + 1] * b[i]
    return total


def rms(x: Any, weight: Any) -> Any:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + x.dtype.type(1e-6)) * weight


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    away = x - x.mean(-1, keepdims=True)
    return away / np.sqrt((away**2).mean(-1, keepdims=True) + x.dtype.type(1e-5)) * weight + bias


def segmented(x: Any, start: Any) -> Any:
    parts = [np.cumsum(x[a:b]) for a, b in itertools.pairwise(start)]
    return np.concatenate(parts)


def csr(values: Any, columns: Any, start: Any, dense: Any) -> Any:
    out = np.zeros((len(start) - 1, dense.shape[1]), dense.dtype)
    for row in range(len(out)):
        for e in range(start[row], start[row + 1]):
            out[row] += values[e] * dense[columns[e]]
    return out


def messages(x: Any, source: Any, target: Any) -> Any:
    out = np.zeros_like(x)
    for a, b in zip(source, target, strict=True):
        out[b] += x[a]
    return out


def convolution(x: Any, weight: Any, bias: Any) -> Any:
    height, width = x.shape[2:]
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    out = np.zeros((x.shape[0], weight.shape[0], height, width), x.dtype)
    for i in range(3):
        for j in range(3):
            part = padded[:, :, i : i + height, j : j + width]
            out += np.einsum("bihw,oi->bohw", part, weight[:, :, i, j])
    return np.maximum(out + bias[:, None, None], 0)


def recurrence(a: Any, b: Any) -> Any:
    out = np.zeros_like(b)
    for t in range(b.shape[1]):
        out[:, t] = b[:, t] + (a[:, t] * out[:, t - 1] if t else 0)
    return out


def attention(q: Any, k: Any, v: Any) -> Any:
    out = np.zeros_like(v)
    for t in range(q.shape[-2]):
        scores = np.einsum("bhd,bhsd->bhs", q[:, :, t], k[:, :, : t + 1]) / 8
        out[:, :, t] = np.einsum("bhs,bhsd->bhd", softmax(scores), v[:, :, : t + 1])
    return out


def mlp(x: Any, up: Any, up_bias: Any, down: Any, down_bias: Any) -> Any:
    return x + product(gelu(product(x, up) + up_bias), down) + down_bias


def block(x: Any, norms: Any, qkv: Any, mix: Any, up: Any, down: Any) -> Any:
    batch, time, width = x.shape
    seen = rms(x, norms[0]) @ qkv
    q, k, v = (
        part.reshape(batch, time, -1, 64).transpose(0, 2, 1, 3) for part in np.split(seen, 3, -1)
    )
    x = x + attention(q, k, v).transpose(0, 2, 1, 3).reshape(batch, time, width) @ mix
    g, u = np.split(rms(x, norms[1]) @ up, 2, -1)
    return x + (silu(g) * u) @ down


def classifier(x: Any, embed: Any, embed_bias: Any, layer: Any, layer_bias: Any, head: Any) -> Any:
    side = x.shape[-1] // 8
    patches = [
        x[:, :, 8 * i : 8 * i + 8, 8 * j : 8 * j + 8].reshape(len(x), -1)
        for i in range(side)
        for j in range(side)
    ]
    tokens = np.stack(patches, 1) @ embed + embed_bias
    tokens = tokens + gelu(tokens @ layer + layer_bias)
    return np.log(softmax(tokens.mean(1) @ head))


NAIVE: dict[str, Callable[..., Any]] = {
    "bias_gelu": lambda x, bias: gelu(x + bias),
    "swiglu": lambda x: silu(x[:, : x.shape[1] // 2]) * x[:, x.shape[1] // 2 :],
    "softmax": softmax,
    "layer_norm": layer_norm,
    "rmsnorm": rms,
    "argmax": lambda x: np.array([list(row).index(max(row)) for row in x]),
    "cumsum": lambda x: np.stack([x[:, : c + 1].sum(1) for c in range(x.shape[1])], 1),
    "transpose": lambda x: np.stack([page.T for page in x]),
    "matmul_bias_gelu": lambda a, b, bias: gelu(product(a, b) + bias),
    "batched_matmul": lambda a, b: np.stack([product(x, y) for x, y in zip(a, b, strict=True)]),
    "segmented_cumsum": segmented,
    "topk": lambda x: -np.sort(-x, axis=1)[:, :40],
    "csr_matmul": csr,
    "message_passing": messages,
    "conv_relu": convolution,
    "linear_recurrence": recurrence,
    "causal_attention": attention,
    "mlp": mlp,
    "transformer_block": block,
    "patch_classifier": classifier,
}


def naive(name: str, inputs: list[Any], dtype: Any) -> Any:
    """The formula, in a format of NumPy's."""
    arrays = [data.to(dtype) if data.is_floating_point() else data for data in inputs]
    return torch.from_numpy(np.ascontiguousarray(NAIVE[name](*(a.numpy() for a in arrays))))


def asked(case: Any, inputs: list[Any]) -> oracle.Asked:
    reference = case.subject.truth(inputs, {}, plain=True)
    poison = torch.full((reference.numel() * reference.dtype.itemsize,), 0x7F, dtype=torch.uint8)
    return oracle.Asked(case, inputs, case.truth(inputs), reference, poison, [])


def test_every_problem_has_a_formula_here() -> None:
    assert set(NAIVE) == set(registry.NAMES)
    assert len(registry.NAMES) >= 15


@pytest.mark.parametrize("name", registry.NAMES)
@pytest.mark.parametrize("hidden", [False, True])
def test_the_oracle_is_the_formula(name: str, hidden: bool) -> None:
    case = oracle.load(torch, name, seed=3, small=True)
    inputs = case.inputs(hidden=hidden, seed=4)
    truth = case.truth(inputs)
    assert truth.dtype in (torch.float64, torch.int64)
    assert torch.allclose(naive(name, inputs, torch.float64), truth, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", registry.NAMES)
def test_another_honest_implementation_is_right(name: str) -> None:
    case = oracle.load(torch, name, seed=5, small=True)
    inputs = case.inputs(hidden=True, seed=6)
    question = asked(case, inputs)
    output = naive(name, inputs, torch.float32).to(question.reference.dtype)
    found = oracle.examine(output, question)
    assert found.kind is oracle.OutputKind.RIGHT, found


def test_sums_in_float32_one_after_another_are_right_where_the_reference_uses_float64() -> None:
    found = registry.find("segmented_cumsum")
    sizes = {"n": 200_000, "segments": 40}
    shapes = {False: sizes, True: sizes}
    subject = oracle.OwnProblem(torch, found, shapes, "cpu")
    case = oracle.GpuCase(torch, found.name, 2, "", [], {}, subject)
    inputs = case.inputs(hidden=False, seed=2)
    output = naive(found.name, inputs, torch.float32)
    assert oracle.examine(output, asked(case, inputs)).kind is oracle.OutputKind.RIGHT
    halved = naive(found.name, [inputs[0].half(), inputs[1]], torch.float32)
    assert oracle.examine(halved, asked(case, inputs)).kind is oracle.OutputKind.NARROW


@pytest.mark.parametrize("name", FLOATS)
def test_the_reference_errs_less_than_honest_arithmetic_may(name: str) -> None:
    for seed in range(3):
        case = oracle.load(torch, name, seed=seed, small=True)
        inputs = case.inputs(hidden=False, seed=seed)
        question = asked(case, inputs)
        error = oracle.error_of(torch, question.reference, question.truth)
        assert error <= case.bound(inputs)


@pytest.mark.parametrize("name", FLOATS)
def test_a_narrower_format_is_not_right(name: str) -> None:
    case = oracle.load(torch, name, seed=7, small=True)
    inputs = case.inputs(hidden=False, seed=8)
    question = asked(case, inputs)
    digits = problem.NARROWER[case.subject.problem.dtype][0]
    narrowed = case.truth(inputs, digits=digits).to(question.reference.dtype)
    assert oracle.examine(narrowed, question).kind is oracle.OutputKind.NARROW


@pytest.mark.parametrize("name", registry.NAMES)
def test_hidden_shapes_lie_in_the_ranges_and_are_no_powers_of_two(name: str) -> None:
    found = registry.find(name)
    drawn = [found.hidden(random.Random(seed), small=False) for seed in range(40)]
    assert found.axes
    for axis in found.axes:
        sizes = {sizes[axis.name] for sizes in drawn}
        assert len(sizes) > 1
        assert all(axis.low - 1 <= size <= axis.high for size in sizes)
        assert not [size for size in sizes if size > 8 and size & (size - 1) == 0]


@pytest.mark.parametrize("name", registry.NAMES)
def test_one_set_of_buffers_stays_below_two_gibibytes(name: str) -> None:
    found = registry.find(name)
    for sizes in (found.listed(small=False), {axis.name: axis.high for axis in found.axes}):
        with torch.device("meta"):
            inputs = found.draw(sizes)
        output = found.eager(*inputs) if _runs_on_nothing(name) else inputs[0]
        total = sum(data.numel() * data.element_size() for data in (*inputs, output))
        assert total < 2 << 30


def _runs_on_nothing(name: str) -> bool:
    """The shapes of these depend on values."""
    return name not in ("csr_matmul", "segmented_cumsum")


@pytest.mark.parametrize("name", registry.NAMES)
def test_the_text_for_agents_is_the_reference(name: str) -> None:
    found = registry.find(name)
    module: dict[str, Any] = {}
    exec(compile(found.reference_text(found.listed(small=True)), name, "exec"), module)
    torch.manual_seed(1)
    inputs = module["get_inputs"]()
    made = module["Model"](*module["get_init_inputs"]())(*inputs)
    assert torch.equal(made, found.eager(*inputs))


ROOFLINE = settings.GpuRoofline(bytes_per_s=1e9, flops_per_s=1e10, half_flops_per_s=4e10)


def test_a_floor_is_the_bytes_of_inputs_and_what_no_cache_holds() -> None:
    case = oracle.load(torch, "softmax", seed=1, small=True)
    inputs = case.inputs(hidden=False, seed=1)
    read = 4 * 37 * 70
    assert case.floor_s(inputs, ROOFLINE) == pytest.approx(0.9 * read / 1e9)
    written = oracle.floor_of(case, inputs, (128 << 20) + 1000, ROOFLINE)
    assert written == pytest.approx(0.9 * (read + 1000) / 1e9)


@pytest.mark.parametrize(("name", "rate"), [("matmul_bias_gelu", 4e10), ("batched_matmul", 1e10)])
def test_a_product_cannot_be_faster_than_the_unit_of_its_format(name: str, rate: float) -> None:
    case = oracle.load(torch, name, seed=1, small=True)
    inputs = case.inputs(hidden=True, seed=1)
    sizes = case.subject.shapes[True]
    work = 2 * sizes["m"] * sizes["k"] * sizes["n"] * sizes.get("batch", 1)
    fast = settings.GpuRoofline(1e18, 1e10, 4e10)
    assert case.floor_s(inputs, fast) == pytest.approx(0.9 * work / rate)


def test_rows_that_no_column_names_need_not_be_read() -> None:
    found = registry.find("csr_matmul")
    columns = torch.tensor([2, 2, 5])
    inputs = [torch.ones(3), columns, torch.tensor([0, 1, 3]), torch.ones(1000, 10)]
    assert found.touched is not None
    assert found.touched(inputs) == 4 * (3 + 2 * 10) + 8 * (3 + 3)


def test_the_bound_grows_like_the_root_of_the_roundings() -> None:
    found = registry.find("cumsum")
    one, four = (found.bound({"rows": 1, "cols": cols}) for cols in (1000, 4000))
    assert four == pytest.approx(2 * one)
    assert one == pytest.approx(8 * 2.0**-24 * math.sqrt(1000))


def test_an_unknown_problem_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="layer_norm"):
        registry.find("layernorm")


def test_levels_are_three() -> None:
    assert {registry.level(name) for name in registry.NAMES} == {1, 2, 3}
    assert all(registry.find(name).level == registry.level(name) for name in registry.NAMES)
    assert set(registry.DEFAULT) < set(registry.NAMES)
