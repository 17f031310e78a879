"""Two processes over gloo train one policy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.unit.training import fakes_loop as fakes

from unhack.training.loop.train import train
from unhack.training.run import checkpoint
from unhack.training.run.folder import read_lines

ROOT = Path(__file__).resolve().parents[4]
SCRIPT = """
import json, sys
from pathlib import Path
from tests.unit.training import fakes_loop as fakes
from unhack.training.loop import train as module
from unhack.training.config.settings import Settings

real = module.open_session
def open_session(settings, folder, ranks):
    import contextlib
    @contextlib.contextmanager
    def held():
        with real(settings, folder, ranks) as run:
            yield run
            ranks.check_equal(list(run.adapters.state().values()))
    return held()
module.open_session = open_session
with fakes.faked():
    module.train(Settings.model_validate_json(sys.argv[1]), Path(sys.argv[2]))
names = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]
assert not [name for name in names if "gloo" in name], "the group's threads outlive it"
"""


def trained_by_two(folder: Path, settings: Any) -> None:
    script = folder.parent / "ranks_script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [
            sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
            str(script), settings.model_dump_json(), str(folder),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        timeout=600, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.slow
class TestTwoRanks:
    @pytest.mark.parametrize(
        "tables",
        [
            {"gate": {"kind": "cosine"}},
            {
                "gate": {"kind": "oracle"},
                "optimiser": {"shared_moments": True},
                "objective": {"retire_share": 0.25},
            },
        ],
        ids=["cosine", "shared"],
    )
    def test_two_ranks_make_the_same_steps_and_one_set_of_files(
        self, tmp_path: Path, tables: dict[str, Any]
    ) -> None:
        settings = fakes.small(**tables, run={"steps": 4, "checkpoint_every": 2})
        trained_by_two(tmp_path / "two", settings)
        with fakes.faked():
            train(settings, tmp_path / "one")
        two, one = (read_lines(tmp_path / name / "metrics.jsonl") for name in ("two", "one"))
        assert [line["step"] for line in two] == [0, 1, 2, 3]
        assert json.loads((tmp_path / "two/run.json").read_text())["ranks"] == 2
        assert two[0]["kl_count"] == one[0]["kl_count"] == 8
        gates = read_lines(tmp_path / "two/gate.jsonl")
        for line, gate in zip(two, gates, strict=True):
            assert gate["mass"] == pytest.approx(line["routed_mass"], abs=1e-5)
            assert len([value for value in gate["fractions"] if value > 0]) <= gate["active"]
        scale = one[0]["norm_deployed"] / two[0]["norm_deployed"]
        assert 0.3 < scale < 3  # other draws, the same normalisers

    def test_two_ranks_go_on_from_a_checkpoint(self, tmp_path: Path) -> None:
        short = fakes.small(gate={"kind": "cosine"}, run={"steps": 2})
        whole = fakes.small(gate={"kind": "cosine"}, run={"steps": 4})
        trained_by_two(tmp_path / "parts", short)
        trained_by_two(tmp_path / "parts", whole)
        trained_by_two(tmp_path / "whole", whole)
        one, other = (checkpoint.load_adapters(tmp_path / name, 4) for name in ("parts", "whole"))
        assert all(torch.equal(one[name], other[name]) for name in one)
