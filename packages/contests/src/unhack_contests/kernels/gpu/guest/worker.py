"""A submission's process on a card: it answers on a `SOCK_SEQPACKET` socket at descriptor 3.

    JSON plan, with the descriptor of the shared memory       R   buffers are mapped
    L                                                 R   what there is to build is built, the
                                                          model is made
    JSON {"token", "sets"}                            token, as bytes
                                        E text: it failed;  F text: its answer is an impostor

The plan: {"bytes", "solution", "arch", "init", "sets": [{"inputs", "output"}], "weights"}; a place
in the shared memory is [offset, dtype, shape]. `forward` gets one set of inputs after the other,
and `out` where it has such a parameter; otherwise what it returns is copied into the output,
on the clock.

Covered: a synchronisation of the whole device before the token is sent.
Not covered: anything that has to be true. The submission may patch all of this; the judge has its
own clock, its own context and its own copies.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from unhack_contests.kernels.gpu.guest import device_memory

PEER = 3
DEVICE = "cuda:0"
"""The one card that is here."""
_MAX_PACKET = 1 << 20
_BUILD_S = 240


class Impostor(Exception):
    """The answer is no plain tensor of the right kind."""


class NvccError(Exception):
    """nvcc refused; the text is the end of what it said."""


def main(fd: int = PEER) -> None:
    """Map the shared memory, load the submission, answer until the judge hangs up."""
    with socket.socket(fileno=fd) as peer:
        message, fds, _, _ = socket.recv_fds(peer, _MAX_PACKET, 1)
        plan = json.loads(message)
        torch = importlib.import_module("torch")
        driver, memory = map_memory(torch, fds[0], plan["bytes"])
        os.close(fds[0])
        peer.send(b"R")
        if peer.recv(_MAX_PACKET) != b"L":
            return
        try:
            model = _load(torch, plan, memory)
            takes_out = "out" in inspect.signature(model.forward).parameters
        except BaseException as error:
            peer.send(_words(error))
            return
        peer.send(b"R")
        sets = [_buffers(torch, memory, places) for places in plan["sets"]]

        def work(numbers: list[int]) -> None:
            with torch.no_grad():
                for number in numbers:
                    _run(torch, model, *sets[number], takes_out=takes_out)
            torch.cuda.synchronize()
            driver.synchronize()

        _serve(peer, work)


def map_memory(torch: Any, fd: int, size: int) -> tuple[Any, Any]:
    """(the driver, the shared memory as a tensor of bytes). Raises DeviceError."""
    torch.zeros(1, device=DEVICE)
    torch.cuda.synchronize()
    driver = device_memory.Driver()
    return driver, device_memory.bytes_of(torch, driver.open(fd, size), DEVICE)


def _serve(peer: socket.socket, work: Callable[[list[int]], None]) -> None:
    while data := peer.recv(_MAX_PACKET):
        asked = json.loads(data)
        answer = bytes.fromhex(asked["token"])
        try:
            work(asked["sets"])
        except BaseException as error:
            answer = _words(error)
        peer.send(answer)


def _words(error: BaseException) -> bytes:
    kind = "F" if isinstance(error, Impostor) else "E"
    return f"{kind}{type(error).__name__}: {error}".encode(errors="replace")[:2000]


def _buffers(torch: Any, memory: Any, places: dict[str, Any]) -> tuple[list[Any], Any]:
    inputs = [device_memory.view(torch, memory, place) for place in places["inputs"]]
    return inputs, device_memory.view(torch, memory, places["output"])


def _load(torch: Any, plan: dict[str, Any], memory: Any) -> Any:
    name = plan["solution"]
    folder = os.getcwd()
    if os.path.exists(f"{folder}/{name}.cu"):
        build(folder, name, plan["arch"])
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location("submission", f"{folder}/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["submission"] = module
    spec.loader.exec_module(module)
    kind = getattr(module, "ModelNew", None) or module.Model
    model = kind(*plan["init"]).to(memory.device)
    places = plan["weights"].items()
    weights = {key: device_memory.view(torch, memory, place).clone() for key, place in places}
    model.load_state_dict(weights)
    return model.eval()


def build(folder: str, name: str, arch: str) -> None:
    """`NAME.so` from `NAME.cu`. Raises NvccError."""
    command = [
        os.environ.get("NVCC", "nvcc"), "-O3", f"-arch={arch}", "-shared", "-Xcompiler", "-fPIC",
        "-o", f"{name}.so", f"{name}.cu",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, timeout=_BUILD_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NvccError(f"{name}.cu could not be compiled: {error}") from None
    if done.returncode:
        text = done.stderr.decode(errors="replace").strip()[-1200:]
        raise NvccError(f"{name}.cu does not compile: {text}")


def _run(torch: Any, model: Any, inputs: list[Any], output: Any, *, takes_out: bool) -> None:
    if takes_out:
        model(*inputs, out=output)
        return
    result = model(*inputs)
    if type(result) is not torch.Tensor:
        raise Impostor(f"its answer is a {type(result).__name__}, no plain tensor")
    if result.shape != output.shape or result.dtype != output.dtype:
        raise Impostor(f"its answer is {result.dtype} {tuple(result.shape)}")
    output.copy_(result)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):  # the judge has hung up
        main()
