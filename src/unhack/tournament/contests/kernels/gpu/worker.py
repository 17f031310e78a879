"""A submission's process on a device: `python -m ...gpu.worker FD`, FD a `SOCK_SEQPACKET` socket.

    JSON {"solution", "init", "inputs", "outputs", "parameters"}   R   buffers are open
    L                                                              R   the model is made
    JSON {"token", "set"}                                          token, as bytes
                                        E text: it failed;  F text: its answer is an impostor

Buffers are [IPC handle in hexadecimal, shape, dtype]; `inputs` and `outputs` are lists of sets. The
submission's `forward` gets one set of inputs, and `out` where it has such a parameter; otherwise
what it returns is copied into the output, on the clock.

Covered: a synchronisation of the whole device before the token is sent.
Not covered: anything that has to be true. The submission may patch all of this; the judge has its
own clock and its own context.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import json
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

from unhack.sandbox.linux import calls
from unhack.tournament.contests.kernels.gpu import memory

_MAX_MESSAGE = 1 << 20


class Impostor(Exception):
    """The answer is no plain tensor of the right kind."""


def main(fd: int) -> None:
    """Open the buffers, load the submission, answer until the judge hangs up."""
    with socket.socket(fileno=fd) as peer:
        torch = memory.load_torch()
        plan = json.loads(peer.recv(_MAX_MESSAGE))
        driver = memory.Driver()
        inputs = [[_open(torch, driver, one) for one in group] for group in plan["inputs"]]
        outputs = [_open(torch, driver, one) for one in plan["outputs"]]
        weights = {name: _open(torch, driver, one) for name, one in plan["parameters"].items()}
        with contextlib.suppress(OSError):  # where it may, it goes on without a network
            calls.unshare(calls.CLONE_NEWNET)
        peer.send(b"R")
        if peer.recv(_MAX_MESSAGE) != b"L":
            return
        try:
            model = _load(torch, plan, weights)
            takes_out = "out" in inspect.signature(model.forward).parameters
        except BaseException as error:
            peer.send(_words(error))
            return
        peer.send(b"R")

        def work(number: int) -> None:
            with torch.no_grad():
                _run(torch, model, inputs[number], outputs[number], takes_out=takes_out)
            torch.cuda.synchronize()
            driver.synchronize()

        _serve(peer, work)


def _serve(peer: socket.socket, work: Callable[[int], None]) -> None:
    while data := peer.recv(_MAX_MESSAGE):
        asked = json.loads(data)
        answer = bytes.fromhex(asked["token"])
        try:
            work(asked["set"])
        except BaseException as error:
            answer = _words(error)
        peer.send(answer)


def _words(error: BaseException) -> bytes:
    kind = "F" if isinstance(error, Impostor) else "E"
    return f"{kind}{type(error).__name__}: {error}".encode(errors="replace")[:2000]


def _open(torch: Any, driver: memory.Driver, one: list[Any]) -> Any:
    return memory.tensor(torch, driver.open(bytes.fromhex(one[0])), tuple(one[1]), one[2])


def _load(torch: Any, plan: dict[str, Any], weights: dict[str, Any]) -> Any:
    path = plan["solution"]
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("submission", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["submission"] = module
    spec.loader.exec_module(module)
    kind = getattr(module, "ModelNew", None) or module.Model
    model = kind(*plan["init"]).to(memory.DEVICE)
    model.load_state_dict({name: data.clone() for name, data in weights.items()})
    return model


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
    main(int(sys.argv[1]))
