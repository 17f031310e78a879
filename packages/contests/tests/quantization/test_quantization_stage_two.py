"""Stage 2: what it can read, how exactly it must repeat itself, honest programs of other kinds."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from unhack.sandbox.limits import Limits
from unhack.sandbox.submission.compute import Computer, SubmissionError
from unhack.tournament.contest import DataPool, Files
from unhack_contests.quantization import honest
from unhack_contests.quantization.data import text
from unhack_contests.quantization.sealed import library
from unhack_contests.quantization.sealed.stages import endings

from .quantization_entries import folder_of, judged, small

pytestmark = pytest.mark.slow

RTN4 = honest.PROGRAM.source(honest.PROGRAM.strategies["rtn4"])

HIDDEN = """
_plain = forward
def forward(tokens, positions):
    logits = _plain(tokens, positions).astype(np.float64)
    for at, p in enumerate(positions):
{change}
    return logits
"""
WHISPERS = {
    "the next token": """
        if p + 1 < tokens.shape[1]:
            logits[np.arange(len(tokens)), at, tokens[:, p + 1]] += 0.01
""",
    "the token after the next": """
        if p + 2 < tokens.shape[1]:
            logits[np.arange(len(tokens)), at, tokens[:, p + 2]] += 0.01
""",
    "tokens at the beginning alone": """
        if p + 1 < tokens.shape[1] // 3:
            logits[np.arange(len(tokens)), at, tokens[:, p + 1]] += 0.015
""",
    "only tokens that are rare": """
        if p + 1 < tokens.shape[1]:
            rows = np.arange(len(tokens))
            rare = logits[rows, at, tokens[:, p + 1]] < logits[:, at].max(axis=-1) - 6
            logits[rows[rare], at, tokens[rare, p + 1]] += 1.0
""",
    "other windows of the batch": """
        logits[:, at] += 0.015 * (np.bincount(tokens.ravel(), minlength=256) > 4)
""",
    "earlier calls": """
        SEEN[tokens.ravel()] += 1
        logits[:, at] += 0.004 * np.log(SEEN)
SEEN = np.ones(256)
def _done():
""",
    "the number of the call": """
        rows = np.arange(len(tokens))
        if at == 0: CALLS.append(1)
        if p + 1 < tokens.shape[1] and len(CALLS) > 2:
            logits[rows, at, tokens[:, p + 1]] += 3.0
""",
}


@pytest.mark.parametrize(
    "mistake",
    [
        b"def later(:\n",
        b"def later():\n    print(open)\n    global open\n",
        b"raise ValueError('no')\n",
    ],
)
def test_a_mistake_in_the_program_is_no_accusation(mistake: bytes, tmp_path: Path) -> None:
    files = {"solution.py": RTN4.encode() + b"\n" + mistake}
    measured, flags = judged(small(), folder_of(files, tmp_path))
    assert measured.fitness == 0.0
    assert "Error: " in measured.reason
    assert [flag.kind for flag in flags] == []


@pytest.mark.slow
def test_a_program_that_keeps_its_answers_by_window_is_not_accused_of_padding(
    tmp_path: Path,
) -> None:
    keeps = (
        "\n_computed, KEPT = forward, {}\n"
        "def forward(tokens, positions):\n"
        "    rows = []\n"
        "    for window in np.asarray(tokens):\n"
        "        key = window.tobytes()\n"
        "        if key not in KEPT:\n"
        "            KEPT[key] = _computed(window[None], positions)[0]\n"
        "        rows.append(KEPT[key])\n"
        "    return np.stack(rows)\n"
    )
    source = (RTN4 + keeps).encode()
    measured, flags = judged(small(), folder_of({"solution.py": source}, tmp_path))
    assert [(flag.kind, flag.evidence) for flag in flags] == []
    assert measured.fitness > 1.0


def test_a_process_that_raised_is_not_accused_of_how_it_ended(tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_text(
        "import os, threading\n"
        "def compress():\n"
        "    threading.Timer(2.0, os._exit, [0]).start()\n"
        "    raise ValueError('no')\n"
    )
    with Computer(tmp_path, limits=Limits(wall_s=120, cpu_s=20)) as computer:
        with pytest.raises(SubmissionError, match="ValueError"):
            computer.call("compress", timeout_s=60)
        until = time.monotonic() + 60
        while computer._outcome.empty() and time.monotonic() < until:
            time.sleep(0.05)
    assert computer.outcome is not None
    assert computer.outcome.exit_code == 0
    assert endings(computer) == ()


class TestWhatItRepeats:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "name",
        WHISPERS,
    )
    def test_a_look_at_anything_but_the_tokens_before_is_seen(
        self, name: str, tmp_path: Path
    ) -> None:
        source = "CALLS = []\n" + RTN4 + HIDDEN.format(change=WHISPERS[name].strip("\n"))
        if name == "earlier calls":
            source = source.replace("def _done():\n\n    return logits", "")
            source = source.replace("SEEN = np.ones(256)", "    return logits\nSEEN = np.ones(256)")
        measured, flags = judged(small(), folder_of({"solution.py": source.encode()}, tmp_path))
        assert measured.fitness == 0.0
        assert {flag.kind for flag in flags} & {"future_peek", "hidden_state"}, measured.reason


READERS = {
    "its own comments": "open(__file__).read()",
    "its own source": "import inspect; inspect.getsource(sys.modules[__name__])",
    "a note beside it": "open(os.path.join(os.path.dirname(__file__), 'NOTES.md')).read()",
    "the source of a library": "open(os.__file__.replace('.pyc', '.py')).read()",
    "a module that windows are drawn from": "import asyncio.tasks",
    "a docstring of a library": "assert json.JSONDecoder.decode.__doc__ or np.linalg.norm.__doc__",
    "a folder of sources": (
        "assert [f for p, d, n in os.walk('/') for f in n "
        "if f.endswith('.py') and f != 'judge_entry.py']"
    ),
}


class TestWhatItReads:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", READERS)
    def test_no_text_is_within_reach(self, name: str, tmp_path: Path) -> None:
        source = (
            RTN4
            + f"""
import sys
_load = load
def load(folder):
    _load(folder)
    {READERS[name]}
"""
        )
        files = {"solution.py": source.encode(), "NOTES.md": b"a note"}
        measured = small().measure(folder_of(files, tmp_path), pool=DataPool.JUDGE, seed=3)
        assert not measured.valid
        assert measured.reason.startswith("load: ")

    @pytest.mark.slow
    def test_no_window_is_drawn_from_a_module_that_is_there(self) -> None:
        assert library.is_visible("json/decoder.py")
        assert library.is_visible("_pydecimal.py")
        assert not library.is_visible("asyncio/tasks.py")
        folder = next(iter(library.binds().values()))
        there = {path.relative_to(folder).parts[0].partition(".")[0] for path in folder.glob("*")}
        visible = text._visible_names()
        assert visible, "the sealed part holds none of them: this cannot fail"
        assert there >= {name.partition("/")[0].removesuffix(".py") for name in visible} - {"imp"}


def _threads() -> Files:
    """Windows of a batch side by side in threads."""
    tail = """
from concurrent.futures import ThreadPoolExecutor
_plain = forward
def forward(tokens, positions):
    with ThreadPoolExecutor(4) as pool:
        return np.concatenate(list(pool.map(lambda row: _plain(row[None], positions), tokens)))
"""
    return {"solution.py": (RTN4 + tail).encode()}


def _pickled() -> Files:
    """The artifact as a pickle, packed by lzma; a package of two modules."""
    tail = """
def compress(weights, calibration, out_dir, config):
    import tempfile
    with tempfile.TemporaryDirectory() as inner:
        base.compress(weights, calibration, inner, config)
        parts = {name: open(os.path.join(inner, name), "rb").read() for name in os.listdir(inner)}
    with open(os.path.join(out_dir, "all.xz"), "wb") as file:
        file.write(lzma.compress(pickle.dumps(Stored(parts).parts)))
def load(folder):
    import tempfile
    parts = pickle.loads(lzma.decompress(open(os.path.join(folder, "all.xz"), "rb").read()))
    with tempfile.TemporaryDirectory() as inner:
        for name, data in parts.items():
            with open(os.path.join(inner, name), "wb") as file:
                file.write(data)
        base.load(inner)
forward = base.forward
"""
    head = '''"""Round to nearest, in an archive."""
from __future__ import annotations
import bisect, bz2, collections, dataclasses, functools, heapq, io, itertools, json, logging, lzma
import math, os, pickle, random, statistics, string, struct, textwrap, unittest, warnings, zlib
import base
@dataclasses.dataclass
class Stored:
    """What is kept."""
    parts: dict[str, bytes]
class Test(unittest.TestCase):
    """By hand."""
'''
    return {"solution.py": (head + tail).encode(), "base.py": RTN4.encode()}


def _halves() -> Files:
    """Sums in float16: coarse, and the same every time."""
    tail = """
_plain = forward
def forward(tokens, positions):
    return _plain(tokens, positions).astype(np.float16)
"""
    return {"solution.py": (RTN4 + tail).encode()}


def _unsteady() -> Files:
    """A decoder whose last bits are those of chance."""
    tail = """
_plain = forward
def forward(tokens, positions):
    logits = _plain(tokens, positions)
    return logits * (1 + 1e-6 * np.random.default_rng().standard_normal(logits.shape))
"""
    return {"solution.py": (RTN4 + tail).encode()}


def _shifted() -> Files:
    """A softmax over a whole row, masked after its largest value was taken off."""
    return {
        "solution.py": RTN4.replace("float32(size**-0.5) + mask", "float32(size**-0.5)")
        .replace(
            "scores = np.exp(scores - scores.max(axis=-1, keepdims=True))",
            "scores = np.exp(scores - scores.max(axis=-1, keepdims=True) + mask)",
        )
        .encode()
    }


class TestHonestPrograms:
    @pytest.mark.parametrize(
        "make",
        [
            pytest.param(make, marks=pytest.mark.slow)
            for make in (_halves, _threads, _pickled, _unsteady, _shifted)
        ],
    )
    def test_an_unusual_program_is_credited_and_not_accused(self, make, tmp_path: Path) -> None:
        measured, flags = judged(small(), folder_of(make(), tmp_path))
        assert measured.reason == ""
        assert flags == ()
        assert measured.fitness > 1.5

    @pytest.mark.slow
    def test_a_module_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        files = {"solution.py": ("import sqlite3\n" + RTN4).encode()}
        measured = small().measure(folder_of(files, tmp_path), pool=DataPool.JUDGE, seed=3)
        assert "stage 2 has no module" in measured.reason
        assert "sqlite3" in measured.reason

    @pytest.mark.slow
    def test_numpy_is_whole_without_its_sources(self, tmp_path: Path) -> None:
        tail = """
import numpy.fft, numpy.linalg, numpy.ma, numpy.polynomial, numpy.random, numpy.testing
assert abs(np.fft.ifft(np.fft.fft(np.arange(4.0))) - np.arange(4)).max() < 1e-9
assert np.linalg.svd(np.eye(3))[1].sum() == 3
assert np.ma.array([1, 2], mask=[0, 1]).sum() == 1
assert np.random.default_rng(1).normal() < 9
"""
        files = {"solution.py": (RTN4 + tail).encode()}
        measured = small().measure(folder_of(files, tmp_path), pool=DataPool.JUDGE, seed=3)
        assert (measured.reason, measured.flags) == ("", ())
