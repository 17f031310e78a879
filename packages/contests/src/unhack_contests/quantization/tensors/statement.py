"""The statement of the contest with `runtime=torch`; `statement.md` is its page."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from unhack.tournament.kit import Terms
from unhack_contests.quantization.comparison import target_of
from unhack_contests.quantization.tensors import packages
from unhack_contests.quantization.tensors.model import ReferenceModel
from unhack_contests.quantization.tensors.settings import TensorSettings, stage_two_s


def write(
    model: ReferenceModel, settings: TensorSettings, *, calibration: int, terms: Terms, given: bool
) -> bytes:
    """`STATEMENT.md` of a round; `calibration`: tokens that both stages have; `given`: agents have
    the weights too."""
    page = resources.files(__package__ or "").joinpath("statement.md").read_text()
    whole = page.format(
        name=Path(settings.model).name or "nano",
        parameters=f"{model.parameters:,}",
        tensors=len(model.shapes),
        weights_place=", `reference/model.safetensors` its weights" if given else "",
        compress_s=settings.compress_s,
        stage_two_s=stage_two_s(model.parameters),
        device="on the processors" if settings.device == "cpu" else "with one GPU",
        dtype=model.dtype,
        calibration=calibration,
        windows=settings.windows,
        length=settings.length,
        reference_bytes=model.nbytes,
        missing=", ".join(sorted(name for name in packages.missing() if name[0] != "_")),
        target=target_of(terms),
    )
    return whole.encode()
