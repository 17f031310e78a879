"""The two stages of a submission with PyTorch, each in a sealed tree of its own.

Stage 1 has the model, the calibration tokens, the packages and maybe a card, and writes an
artifact into a folder. It is ended, and what the judge read of that folder is all that goes on: the
names and contents of regular files, whose bytes are counted as they cross. Stage 2 has the program,
compiled, these files and the calibration tokens from the judge's hand, on one processor, and gives
tensors back. It never sees a model or a card, and neither stage sees the text that is scored: that
is drawn when both have ended.

Text is worth something in stage 2: weights that rounding has made coarse can be tuned on it. The
machine has text that no byte pays for (`packages`), so every submission is given better text.

Covered: time, memory and disk of both; names, types, shapes and values of the tensors; processes
that end themselves. A submission at fault is `RefusedError`.
Not covered: what is left of the pages that stage 1 read in the host's cache, which a clock can tell
apart; bits of a second's length. See the contest's page.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from unhack.agents.command_line.host_files import PACKAGES, package_binds
from unhack.sandbox.gpu.cards import Card
from unhack.sandbox.gpu.process import GpuProcess, GpuProcessError, GpuRoom
from unhack.sandbox.rootfs import inside, interpreter
from unhack.tournament.kit import Computer, Files, Flag, SubmissionError
from unhack_contests.quantization.sealed.stages import (
    ENTRY,
    MAX_FILES,
    check_names,
    endings,
    forged,
    stage_program,
    write_files,
)
from unhack_contests.quantization.tensors import guest, packages
from unhack_contests.quantization.tensors.model import ReferenceModel
from unhack_contests.quantization.tensors.settings import TensorSettings
from unhack_contests.submission import RefusedError
from unhack_contests.torch_card import CACHES

Array = NDArray[Any]
_GUEST = Path(guest.__file__).parent
_MODEL, _HARNESS, _ARTIFACT = "/model", "/harness", "/artifact"
_PROGRAM, _OUT, _TOKENS = "program", "artifact", "calibration.npy"
_TINY = 20_000_000
"""Parameters below which several threads only wait for one another."""
_ENVIRON = {
    **CACHES, "HF_HOME": "/tmp/huggingface", "HF_HUB_OFFLINE": "1",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8", "PYTHONPATH": PACKAGES,
}  # fmt: skip
_LARGEST = 65504.0
"""Of a weight: what float16 holds."""


def compress(
    submission: Files, model: ReferenceModel, calibration: Array, *,
    settings: TensorSettings, card: Card | None,
) -> dict[str, bytes]:  # fmt: skip
    """Stage 1: the artifact's files. Raises RefusedError, and the sandbox's own failures."""
    tokens = io.BytesIO()
    np.save(tokens, calibration.astype(np.int32))
    files = {f"{_PROGRAM}/{name}": data for name, data in submission.items()}
    room = GpuRoom(
        files={**files, _TOKENS: tokens.getvalue()},
        binds=(*package_binds(), (str(_GUEST), _HARNESS), (str(model.staged), _MODEL)),
        environ=_ENVIRON,
    )
    plan = {
        "model": _MODEL,
        "dtype": model.dtype,
        "device": "cuda:0" if card else "cpu",
        "threads": 1 if model.parameters < _TINY else 0,
        "calibration": f"/workspace/{_TOKENS}",
        "program": f"/workspace/{_PROGRAM}",
        "out": f"/workspace/{_OUT}",
    }
    command = [inside(interpreter()), "-B", "-P", "-s", f"{_HARNESS}/stage_one.py"]
    limits = settings.stage_one(model.parameters)
    most = 2 * model.nbytes + limits.disk_bytes
    process = GpuProcess(command, card=card, room=room, limits=limits, name="stage-one")
    try:
        with process:
            process.send(json.dumps(plan).encode())
            _expect_done(process.receive(timeout_s=settings.wall_s))
            found = process.files((f"{_OUT}/*",), max_files=MAX_FILES, max_bytes=most)
    except GpuProcessError as error:
        raise RefusedError(f"compress: {error}", *_left_early(error)) from None
    artifact = {name.removeprefix(f"{_OUT}/"): data for name, data in found.items()}
    check_names(artifact)
    if sum(map(len, artifact.values())) > most:
        raise RefusedError(f"the artifact has more than {most} bytes")
    return artifact


def decompress(
    submission: Path, artifact: Mapping[str, bytes], model: ReferenceModel, *,
    calibration: Array, scratch: Path, settings: TensorSettings,
) -> dict[str, Array]:  # fmt: skip
    """Stage 2: every parameter of the model; `calibration` [N]: the tokens that stage 1 had. Raises
    as `compress` does."""
    program = stage_program(submission, scratch / "program", guest=_GUEST / "stage_two.py")
    files = write_files(artifact, scratch / "artifact")
    binds = {**packages.binds(), _ARTIFACT: files, **_processors(scratch)}
    limits = settings.stage_two(model.parameters)
    computer = Computer(
        program, entry=ENTRY, limits=limits, preload=("numpy", "torch"), binds=binds
    )
    found: dict[str, Array] = {}
    try:
        with computer:
            tokens = calibration.astype(np.int32)
            computer.call("decompress", _ARTIFACT, model.shapes, tokens, timeout_s=limits.wall_s)
            for name, shape in model.shapes.items():
                answer = computer.call("tensor", name, timeout_s=limits.wall_s)
                found[name] = _checked(name, shape, answer)
    except SubmissionError as error:
        raise RefusedError(f"decompress: {error}", *endings(computer)) from None
    return found


def _processors(scratch: Path) -> dict[str, Path]:
    """A copy of what Linux says of the processors, without their speed of the moment: PyTorch's
    conversions of formats look there."""
    names = ("/proc/cpuinfo", "/sys/devices/system/cpu/possible", "/sys/devices/system/cpu/present")
    found: dict[str, Path] = {}
    for name in (name for name in names if Path(name).is_file()):
        lines = Path(name).read_text().splitlines(keepends=True)
        found[name] = scratch / name.replace("/", "-")
        found[name].write_text("".join(line for line in lines if "MHz" not in line))
    return found


def _expect_done(said: bytes) -> None:
    if said != b"R":
        text = said[1:].decode(errors="replace") if said[:1] == b"E" else "it answered nonsense"
        raise RefusedError(f"compress: {text}")


def _left_early(error: GpuProcessError) -> tuple[Flag, ...]:
    if "ended with code 0" not in str(error):
        return ()
    text = "its process ended with exit code 0 before it was done"
    return (Flag("forged_verdict", text, "judge"),)


def _checked(name: str, shape: list[int], answer: Any) -> Array:
    """The tensor, or RefusedError with what is wrong with it."""
    kind = str(getattr(answer, "dtype", type(answer).__name__))
    if not isinstance(answer, np.ndarray) or kind not in ("float16", "float32"):
        raise forged(f"{name} came back as {kind}, not as an array of floats")
    values = cast("Array", answer)
    if list(values.shape) != shape:
        raise forged(f"{name} came back with the shape {list(values.shape)}, not {shape}")
    if not np.isfinite(values).all():
        raise forged(f"{name} holds a number that is not finite")
    if float(np.abs(values).max(initial=0.0)) > _LARGEST:
        raise forged(f"{name} holds a number beyond {_LARGEST:g}")
    return values
