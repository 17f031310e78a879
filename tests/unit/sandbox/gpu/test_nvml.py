"""What the driver says, through NVIDIA's bindings; a small library stands for the driver's.

In a process of its own: the bindings load a library once.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import SandboxUnavailableError
from unhack.sandbox.doctor import gpu as doctor
from unhack.sandbox.gpu import cards

ASK = """
import dataclasses, json, sys
from unhack.core.errors import SandboxUnavailableError
from unhack.sandbox.gpu import cards, memory_watch
cards.find_library = lambda name: sys.argv[1]
driver = cards.nvml()
try:
    driver.memory(1)
except SandboxUnavailableError as error:
    refused = str(error)
[card] = driver.cards()
use = memory_watch.use_of(card)
print(json.dumps({
    "card": dataclasses.asdict(card), "memory": driver.memory(0), "load": driver.load(0),
    "processes": driver.processes(0), "clocks": dataclasses.asdict(driver.clocks(0)),
    "refused": refused, "used": use(frozenset({11})),
}))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    library = tmp_path_factory.mktemp("driver") / "libnvidia-ml.so.1"
    source = Path(__file__).with_name("fake_nvml.c")
    named = f"-Wl,-soname,{library.name}"
    command = [compiler, "-shared", "-fPIC", named, "-o", str(library), str(source)]
    subprocess.run(command, check=True)
    asked = [sys.executable, "-c", ASK, str(library)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_card_has_its_name_and_the_node_of_its_minor_number(said: dict[str, Any]) -> None:
    assert said["card"] == {
        "index": 0, "node": "/dev/nvidia3", "name": "NVIDIA Fake", "uuid": "GPU-fake",
    }  # fmt: skip


def test_memory_is_told_by_card_and_by_process(said: dict[str, Any]) -> None:
    assert said["memory"] == [5, 80]
    assert said["used"] == 100


def test_a_process_whose_memory_the_driver_does_not_tell_holds_none(said: dict[str, Any]) -> None:
    assert said["processes"] == {"11": 100, "12": 0}


def test_clocks_say_why_they_are_held_back(said: dict[str, Any]) -> None:
    assert said["load"] == 42
    assert said["clocks"] == {
        "sm_mhz": 1980, "memory_mhz": 2619, "celsius": 33,
        "held_back_by": ["power cap", "thermal slowdown"],
    }  # fmt: skip


def test_what_the_driver_refuses_is_told_with_its_words(said: dict[str, Any]) -> None:
    assert said["refused"].startswith("the driver refused nvmlDeviceGetHandleByIndex: ")
    assert "Invalid Argument" in said["refused"]


def test_a_card_without_the_bindings_is_refused_and_the_doctor_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setattr(cards, "card_nodes", lambda: ("/dev/null",))
    monkeypatch.setattr(cards, "CONTROL", "/dev/null")
    monkeypatch.setattr(cards, "MEMORY", "/dev/null")
    monkeypatch.setattr(cards, "find_library", lambda name: f"/usr/lib/{name}")
    with pytest.raises(SandboxUnavailableError, match="nvidia-ml-py"):
        cards.choose_card("cuda")
    here = doctor.find_gpu()
    assert not here.cards
    assert here.remedy == "pip install '.[tournament]' in a checkout of unhack"
