"""The libraries of stage 2 with PyTorch: no text is within reach, and decoders work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

pytest.importorskip("torch")

from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.submission.compute import Computer, SubmissionError
from unhack_contests.quantization.sealed import library
from unhack_contests.quantization.tensors import packages

_LIMITS = Limits(wall_s=600.0, cpu_s=120.0, memory_bytes=2048 * MIB, processes=1)
_PROGRAM = """
import torch
torch.set_num_threads(1)
torch.backends.mkldnn.enabled = False

def run(source):
    space = {}
    exec(source, space)
    return space.get("answer", 0)
"""
REACHES = {
    "a source of torch": "open(__import__('torch').__file__.replace('.pyc', '.py')).read()",
    "a source of Python": "open(__import__('argparse').__file__.replace('.pyc', '.py')).read()",
    "a source by inspect": "import inspect, torch; inspect.getsource(torch.nn.Linear)",
    "a docstring": "import torch; assert torch.nn.Linear.__doc__ or torch.Tensor.backward.__doc__",
    "attached documentation": (
        "import torch\n"
        "found = [getattr(value, '__doc__', '') for value in vars(torch).values()]\n"
        "assert sum(len(text) for text in found if isinstance(text, str)) > 100_000"
    ),
    "lines and columns": (
        "import torch\n"
        "code = torch.nn.Linear.forward.__code__\n"
        "assert {line for *_, line in code.co_lines()} - {1, None}"
    ),
    "any Python text": (
        "import os\n"
        "places = [os.path.join(place, f) for place, _, files in os.walk('/') for f in files]\n"
        "sources = [p for p in places if p.endswith('.py') and '/submission/' not in p]\n"
        "assert sum(os.path.getsize(p) for p in sources) > 100"
    ),
    "headers and stubs": (
        "import os\n"
        "assert [f for place, _, files in os.walk('/') for f in files "
        "if f.endswith(('.pyi', '.cpp', '.cuh', '.rst', '.md')) or f.endswith('.h') "
        "and 'libshm' not in place]"
    ),
    "another package": "import transformers",
    "a module that windows have the shape of": "import xml.etree.ElementTree",
}  # fmt: skip
WORK = {
    "gradients": (
        "import torch\n"
        "x = torch.randn(4, 8, requires_grad=True)\n"
        "y = torch.nn.functional.scaled_dot_product_attention(x[None], x[None], x[None])\n"
        "y.sum().backward()\n"
        "answer = float(x.grad.abs().sum())"
    ),
    "modules": (
        "import torch\n"
        "net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU())\n"
        "rows, _ = torch.nn.LSTM(3, 3)(torch.ones(2, 1, 3))\n"
        "answer = float(net(torch.ones(2, 4)).abs().sum()) + float(rows.abs().sum())"
    ),
    "an optimiser of torch": (
        "import torch\n"
        "net = torch.nn.Linear(3, 2)\n"
        "steps = torch.optim.AdamW(net.parameters(), lr=0.1)\n"
        "net(torch.ones(1, 3)).sum().backward()\n"
        "steps.step()\n"
        "answer = float(net.weight.abs().sum())"
    ),
    "saved tensors": (
        "import io, torch\n"
        "file = io.BytesIO()\n"
        "torch.save({'a': torch.ones(3)}, file)\n"
        "file.seek(0)\n"
        "answer = float(torch.load(file)['a'].sum())"
    ),
    "linear algebra and transforms": (
        "import torch\n"
        "x = torch.arange(16.0).reshape(4, 4)\n"
        "answer = float(torch.linalg.svd(x)[1][0] + torch.fft.rfft(x[0])[0].real)"
    ),
    "quantized types": (
        "import torch\n"
        "q = torch.quantize_per_tensor(torch.ones(4), 0.1, 0, torch.qint8)\n"
        "small = torch.ones(2).to(torch.float8_e4m3fn)\n"
        "answer = float(q.dequantize().sum()) + float(small.float().sum())"
    ),
    "modules of Python": (
        "import lzma, csv, asyncio, fractions, decimal, heapq, configparser, difflib\n"
        "import concurrent.futures, dataclasses, tarfile, zoneinfo, statistics, cmath\n"
        "answer = float(fractions.Fraction(1, 2)) + len(statistics.__name__)"
    ),
    "an error with its trace": (
        "import traceback, torch\n"
        "try:\n"
        "    torch.nn.Linear(2, 2)(torch.ones(3))\n"
        "except RuntimeError:\n"
        "    answer = len(traceback.format_exc()) and 1"
    ),
    "the random numbers of torch": (
        "import torch\n"
        "draw = torch.Generator().manual_seed(3)\n"
        "answer = float(torch.randn(4, generator=draw).abs().sum())\n"
        "answer += float(torch.distributions.Normal(0.0, 1.0).stddev)"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    folder = tmp_path_factory.mktemp("program")
    (folder / "judge_entry.py").write_text(_PROGRAM)
    binds = packages.binds()
    preload = ("numpy", "torch")
    with Computer(
        folder, entry="judge_entry.py", limits=_LIMITS, preload=preload, binds=binds
    ) as computer:
        yield computer


@pytest.mark.slow
@pytest.mark.parametrize("name", REACHES)
def test_no_text_that_no_byte_pays_for_is_within_reach(name: str, stage: Computer) -> None:
    with pytest.raises(SubmissionError):
        stage.call("run", REACHES[name], timeout_s=300.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORK)
def test_a_decoder_may_use_what_torch_and_python_offer(name: str, stage: Computer) -> None:
    assert stage.call("run", WORK[name], timeout_s=300.0) != 0


def test_what_the_installed_torch_loads_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions of PyTorch import the debugger when they load; without it no decoder would start."""
    distributed = tmp_path / "torch" / "distributed"
    distributed.mkdir(parents=True)
    monkeypatch.setattr(packages, "_site", lambda: tmp_path)
    (distributed / "__init__.py").write_text("import logging\nimport pdb\n")
    assert not {"pdb", "cmd"} & packages.missing()
    (distributed / "__init__.py").write_text("def stop():\n    import pdb\n")
    assert {"pdb", "cmd"} <= packages.missing()


def test_bytecode_without_places_still_runs() -> None:
    source = "def f(a):\n    '''Words.'''\n    b = a + 1\n\n    return b * 2\nc = f(20)\n"
    code = library.without_places(compile(source, "s", "exec", optimize=2, dont_inherit=True))
    space: dict[str, object] = {}
    exec(code, space)
    assert space["c"] == 42
    inner = next(item for item in code.co_consts if isinstance(item, CodeType))
    assert {line for *_, line in inner.co_lines()} <= {1, None}
    assert "Words." not in inner.co_consts
