"""The judge of kernels on a card, its sealed workers over host memory: who is credited, who not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from unhack.tournament.contest import Measurement
from unhack_contests.kernels import score
from unhack_contests.kernels.gpu.corpus import cheats
from unhack_contests.kernels.gpu.problems.registry import NAMES

Judge = Callable[..., Measurement]
pytestmark = pytest.mark.slow
HEAD = "import os, socket, threading, time\nimport torch\nfrom torch import nn\n\n\n"
ON_THE_HOST = {"replay", "replay_by_pointer", "lazy_output", "narrow_matmul", "narrow_softmax"}
"""Cheats that are over host memory what they are on a card."""
CHEATS = {name: cheat for name, cheat in cheats(NAMES).items() if name in ON_THE_HOST}
PROBLEM = "softmax"


def model(body: str) -> str:
    """A submission to `softmax`."""
    return f"{HEAD}class Model(nn.Module):\n    def forward(self, x, out):\n{body}"


def kinds(found: Measurement) -> set[str]:
    return {flag.kind for flag in found.flags}


@pytest.mark.parametrize("problem", NAMES)
def test_the_reference_itself_is_valid(
    judged: Judge, reference: Callable[[str], str], problem: str
) -> None:
    found = judged(problem, reference(problem))
    assert found.valid, found.reason
    assert not found.flags
    assert not score.bounds(found)


def test_a_model_may_write_the_output_itself(judged: Judge) -> None:
    found = judged(PROBLEM, model("        torch.softmax(x, -1, out=out)\n"))
    assert found.valid, found.reason


def test_a_solution_finds_the_files_beside_it(judged: Judge) -> None:
    text = "from beside import answer\n" + model("        out.copy_(answer(x))\n")
    found = judged(PROBLEM, text, {"beside.py": b"def answer(x):\n    return x.softmax(-1)\n"})
    assert found.valid, found.reason


@pytest.mark.parametrize("name", sorted(CHEATS))
def test_a_cheat_scores_nothing(judged: Judge, name: str) -> None:
    [(path, text)] = CHEATS[name].files.items()
    found = judged(path.removesuffix(".py"), text.decode())
    assert found.fitness == 0
    assert CHEATS[name].flag in kinds(found), found


def test_a_kernel_that_does_nothing_is_wrong_and_not_accused(judged: Judge) -> None:
    found = judged(PROBLEM, model("        pass\n"))
    assert not found.valid
    assert found.flags == ()


def test_work_that_ends_after_done_is_seen(judged: Judge) -> None:
    body = (  # it writes for long: a single write may land before a busy judge has read `done`
        "        def later():\n            for step in range(100):\n"
        "                out.fill_(step)\n                time.sleep(0.001)\n"
        "            out.copy_(x.softmax(-1))\n"
        "        threading.Thread(target=later).start()\n"
    )
    assert "work_after_done" in kinds(judged(PROBLEM, model(body)))


def test_writing_its_inputs_is_seen(judged: Judge) -> None:
    body = "        torch.softmax(x, -1, out=out)\n        x.zero_()\n"
    assert "tampered_input" in kinds(judged(PROBLEM, model(body)))


def test_writing_beside_the_output_is_not_credited(judged: Judge) -> None:
    body = (
        "        torch.softmax(x, -1, out=out)\n"
        "        size = out.numel() * 4 + 64\n"
        "        whole = torch.empty(0, dtype=torch.uint8).set_(\n"
        "            out.untyped_storage(), out.storage_offset() * 4, (size,))\n"
        "        whole[-64:] = 0\n"
    )
    found = judged(PROBLEM, model(body))
    assert found.reason == "it wrote beside its outputs"


def test_a_message_that_nobody_asked_for_is_a_forgery(judged: Judge) -> None:
    body = (
        "        torch.softmax(x, -1, out=out)\n"
        "        socket.socket(fileno=os.dup(3)).send(b'R' * 16)\n"
    )
    found = judged(PROBLEM, model(body))
    assert not found.valid
    assert "forged_verdict" in kinds(found)


def test_a_submission_that_ends_its_process_is_invalid(judged: Judge) -> None:
    found = judged(PROBLEM, model("        os._exit(7)\n"))
    assert "ended with code 7" in found.reason


def test_what_a_submission_raises_is_its_reason(judged: Judge) -> None:
    found = judged(PROBLEM, model("        raise RuntimeError('no such kernel')\n"))
    assert "no such kernel" in found.reason
    assert found.flags == ()


def test_a_source_that_nvcc_refuses_is_told(judged: Judge) -> None:
    found = judged(PROBLEM, model("        pass\n"), {f"{PROBLEM}.cu": b"this is no CUDA\n"})
    assert f"{PROBLEM}.cu" in found.reason


def test_more_host_memory_than_allowed_ends_it(judged: Judge) -> None:
    body = "        self.kept = bytearray(3 << 30)\n        time.sleep(30)\n"
    found = judged(PROBLEM, model(body))
    assert not found.valid
    assert "memory" in found.reason or "killed" in found.reason


def test_work_in_the_first_calls_only_is_seen(judged: Judge) -> None:
    body = (
        "        self.calls = getattr(self, 'calls', 0) + 1\n"
        "        if self.calls <= 6:\n            torch.softmax(x, -1, out=out)\n"
    )
    assert "phase_detection" in kinds(judged(PROBLEM, model(body)))
