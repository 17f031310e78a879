"""Where the doctor finds itself, and the line that mends it there."""

from __future__ import annotations

from pathlib import Path

from unhack.sandbox.doctor.place import CONTAINER, POD, SLURM, find_place

DEPLOY = Path(__file__).resolve().parents[4] / "examples" / "deploy"


def test_each_place_is_known_by_its_mark(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert find_place({}, root) is None
    assert find_place({"SLURM_JOB_ID": "7"}, root) is SLURM
    (tmp_path / ".dockerenv").touch()
    assert find_place({"SLURM_JOB_ID": "7"}, root) is CONTAINER
    assert find_place({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, root) is POD


def test_the_files_that_remedies_name_exist() -> None:
    for place in (POD, CONTAINER, SLURM):
        name = place.remedy.partition("examples/deploy/")[2].split()[0].rstrip(")")
        assert (DEPLOY / name).exists(), name
