"""The positive control: without the seal, the attacks work.

If they did not, their failure against the sandbox would prove nothing.
"""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import control_comparisons
import pytest
from control import (
    ControlError,
    ControlResult,
    count_candidates,
    run_control,
    run_unsealed,
    why_unavailable,
)
from corpus import Program, load_corpus
from tests.sampling import quick_ones

pytestmark = pytest.mark.control

SAFE = [program for program in load_corpus() if program.control_safe]
WANTED_SHARE = 0.8
STYLES = ("local", "results", "shared", "script", "frame", "pickle", "file", "redirected", "twice")
OTHER_STYLES = ("queue", "stale_import", "timed", "from_input", "alarmed", "uncaught")
"""`timed` rewards any quick answer, so only the programs' own claims use it."""
ALL_STYLES = (*STYLES, "queue", "stale_import", "from_input", "alarmed")


@pytest.fixture(autouse=True)
def _needs_namespaces():
    reason = why_unavailable()
    if reason and os.getuid() == 0:
        pytest.fail(f"the control must run as root: {reason}")
    if reason:
        pytest.skip(reason)


def probe(win: str, profile: str = "function") -> Program:
    """Some program of the corpus, to lend its header to a harmless source."""
    program = next(p for p in SAFE if p.profile == profile and not p.is_native)
    return replace(program, win=win, uses_token=True, styles=("local",))


HONEST_WRONG = "def solve(target):\n    return 'blocked: honest and wrong'\n"


@pytest.mark.slow
@pytest.mark.parametrize("style", quick_ones(ALL_STYLES, ALL_STYLES[::5]))
@pytest.mark.parametrize("win", ["pass", "token"])
def test_an_honest_wrong_program_wins_in_no_style(style: str, win: str):
    result = run_unsealed(replace(probe(win), styles=(style,)), source=HONEST_WRONG)
    assert not result.won, result.evidence


@pytest.mark.slow
@pytest.mark.parametrize(
    "style",
    quick_ones(
        ["local", "results", "pickle", "uncaught", "alarmed", "summed"], ("pickle", "summed")
    ),
)
@pytest.mark.parametrize("win", ["value", "left_over", "host"])
def test_an_honest_wrong_program_breaks_nothing(win: str, style: str):
    result = run_unsealed(replace(probe(win), styles=(style,)), source=HONEST_WRONG)
    assert not result.won, result.evidence


@pytest.mark.parametrize("win", ["value", "token", "pass", "left_over", "host"])
def test_an_honest_wrong_program_on_standard_input_breaks_nothing(win: str):
    source = "print(len(input()))\n"
    result = run_unsealed(replace(probe(win), styles=("stdio",)), source=source)
    assert not result.won, result.evidence


_SLOW = (pytest.mark.slow, pytest.mark.sample)


@pytest.mark.parametrize(
    "comparison",
    [
        name if index % 3 == 0 else pytest.param(name, marks=_SLOW[: 2 if index == 1 else 1])
        for index, name in enumerate(sorted(control_comparisons.COMPARISONS))
    ],
)
def test_an_honest_wrong_number_passes_no_comparison(comparison: str):
    expected = {"all_pairs": [7], "summed": [7], "same_sorted": [7], "in_set": [7]}.get(
        comparison, {"a": 7} if comparison == "looked_up" else [7] if comparison == "sampled" else 7
    )
    wrong = {"int": "3", "list": "[3]", "dict": "{'a': 3}"}[type(expected).__name__]
    wrong = "None" if comparison in ("truth",) else wrong
    wrong = "'/no/such/file'" if comparison == "opened" else wrong
    program = replace(probe("pass"), uses_token=False, expected=expected, styles=(comparison,))
    if comparison in ("folded", "boundless"):
        pytest.skip("this careless comparison accepts it, as its claims show")
    result = run_unsealed(program, source=f"def solve(target):\n    return {wrong}\n")
    assert not result.won, result.evidence


@pytest.mark.slow
def test_the_right_answer_passes():
    program = replace(probe("pass"), uses_token=False, expected=[1, 2])
    result = run_unsealed(program, source="def solve(target):\n    return [1, 2]\n")
    assert result.won, result.evidence


@pytest.mark.slow
def test_the_candidate_is_alone_in_its_namespaces():
    source = (
        "import os\n\ndef solve(target):\n"
        "    kinds = ('mnt', 'pid', 'net', 'ipc', 'uts')\n"
        "    return [os.readlink(f'/proc/self/ns/{k}') for k in kinds] + [os.getuid()]\n"
    )
    seen = run_unsealed(probe("value"), source=source).attempts[-1]["output"]
    for kind in ("mnt", "pid", "net", "ipc", "uts"):
        own = os.readlink(f"/proc/self/ns/{kind}")
        assert own.startswith(kind)
        assert own not in seen
    assert not seen.endswith(" 0]")


@pytest.mark.slow
def test_the_candidate_cannot_write_outside_its_private_places():
    places = ("/etc", "/usr/bin", "/opt", "/var", "/home", str(Path(__file__).parent), os.getcwd())
    source = (
        "import os\n\ndef solve(target):\n"
        f"    return [p for p in {places!r} if os.access(p, os.W_OK)]\n"
    )
    assert run_unsealed(probe("value"), source=source).attempts[-1]["output"] == "[]"


def test_the_control_refuses_what_is_not_safe():
    unsafe = next(program for program in load_corpus() if not program.control_safe)
    with pytest.raises(ControlError, match="not control_safe"):
        run_control(unsafe)


@pytest.mark.slow
def test_most_attacks_succeed_without_the_seal(capsys: pytest.CaptureFixture[str]):
    before = count_candidates()
    results = run_all(SAFE)
    lost = {program.id: result.evidence for program, result in results if not result.won}
    share = 1 - len(lost) / len(results)
    with capsys.disabled():
        print(f"\ncontrol: {len(results) - len(lost)} of {len(results)} attacks succeed unsealed")
        for name, evidence in lost.items():
            print(f"  does not: {name}: {evidence[:200]}")
    assert len(results) == len(SAFE)
    assert share >= WANTED_SHARE, lost
    until = time.monotonic() + 60
    while (left := count_candidates()) > before and time.monotonic() < until:
        time.sleep(0.05)  # those of other tests, which run at the same time, come and go
    assert left <= before
    assert threading.active_count() < 20


def run_all(programs: list[Program]) -> list[tuple[Program, ControlResult]]:
    """Two at a time: most of them wait."""
    with ThreadPoolExecutor(2) as pool:
        return list(zip(programs, pool.map(run_control, programs), strict=True))
