"""Ranks: one process as a special case, shares, checksums, and two real processes over gloo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from unhack.core.errors import UsageError  # noqa: E402
from unhack.training.loop.distributed import Ranks, checksum, ranks  # noqa: E402

ROOT = Path(__file__).resolve().parents[4]


class TestOneProcess:
    def test_one_process_needs_no_process_group(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("WORLD_SIZE", raising=False)
        with ranks() as here:
            tensor = torch.tensor([1.0, 2.0])
            here.all_reduce([tensor])
            here.broadcast([tensor])
            here.barrier()
            assert tensor.tolist() == [1.0, 2.0]
            assert here.gather({"a": [1, None]}) == [{"a": [1, None]}]
            assert here.leads
            assert here == Ranks(0, 1)
        assert not torch.distributed.is_initialized()

    def test_a_rank_without_its_device_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in (("WORLD_SIZE", "2"), ("RANK", "1"), ("LOCAL_RANK", "99")):
            monkeypatch.setenv(name, value)
        with pytest.raises(UsageError, match="fewer processes"), ranks("cuda"):
            pass


class TestShares:
    @given(st.lists(st.integers(), max_size=40), st.integers(1, 9))
    def test_shares_make_up_the_list_and_are_even(self, items: list[int], count: int) -> None:
        shares = [Ranks(rank, count).share(items) for rank in range(count)]
        assert [item for share in shares for item in share] == items
        sizes = [len(share) for share in shares]
        assert max(sizes) - min(sizes) <= 1


class TestChecksums:
    def test_one_bit_changes_a_checksum(self) -> None:
        first = [torch.arange(6.0).view(2, 3), torch.tensor([True, False])]
        second = [first[0].clone(), first[1].clone()]
        assert checksum(first) == checksum(second)
        second[0][1, 2] = torch.nextafter(second[0][1, 2], torch.tensor(9.0))
        assert checksum(first) != checksum(second)

    def test_the_layout_in_memory_does_not_count(self) -> None:
        matrix = torch.arange(6.0).view(2, 3)
        assert checksum([matrix]) == checksum([matrix.t().contiguous().t()])
        assert checksum([matrix.to(torch.bfloat16)]) != checksum([matrix])


def _started(count: int, script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={count}",
        str(script), *arguments,
    ]  # fmt: skip
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        command, env=environment, timeout=600, check=False, capture_output=True, text=True
    )


WORKER = """
import json, sys
import torch
from unhack.training.loop.distributed import RanksDifferError, ranks

with ranks() as here:
    tensors = [
        torch.full((2, 3), 1.0 + here.rank).t(),
        torch.tensor([here.rank + 1], dtype=torch.int64),
        torch.full((), 0.5, dtype=torch.float64),
    ]
    here.all_reduce(tensors)
    sums = [tensor.flatten().tolist() for tensor in tensors]
    own = [torch.full((3,), float(here.rank))]
    try:
        here.check_equal(own)
        differ = "no"
    except RanksDifferError as error:
        differ = str(error)
    here.broadcast(own)
    here.check_equal(own)
    gathered = here.gather({"rank": here.rank, "long": "ä" * (10 * here.rank)})
    if here.rank == here.count - 1:
        text = json.dumps([sums, differ, own[0].tolist(), gathered, here.leads])
        open(sys.argv[1], "w").write(text)
    here.barrier()
"""


@pytest.mark.slow
class TestTwoProcesses:
    def test_collectives_reach_every_rank(self, tmp_path: Path) -> None:
        script, out = tmp_path / "worker.py", tmp_path / "out.json"
        script.write_text(WORKER)
        done = _started(2, script, str(out))
        assert done.returncode == 0, done.stderr[-2000:]
        sums, differ, own, gathered, leads = json.loads(out.read_text())
        assert sums == [[3.0] * 6, [3], [1.0]]
        assert "weights of the ranks differ" in differ
        assert own == [0.0] * 3
        assert gathered == [{"rank": 0, "long": ""}, {"rank": 1, "long": "ä" * 10}]
        assert leads is False

    def test_gradients_of_recorded_rollouts_equal_those_of_one_process(
        self, tmp_path: Path
    ) -> None:
        """The worker also compares the ranks' weights after an optimiser step."""
        script = ROOT / "benchmarks" / "train_data_parallel.py"
        done = subprocess.run(
            [sys.executable, str(script), "--steps", "0"],
            env=os.environ | {"OUT": str(tmp_path)},
            timeout=600,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        found = json.loads((tmp_path / "train_data_parallel.json").read_text())
        assert [run["ranks"] for run in found["runs"]] == [1, 2]
        assert 0 < found["largest_relative_difference"] < 1e-5
