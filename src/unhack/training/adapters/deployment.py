"""The proof that a deployed model has no quarantine left.

Three checks: no module, parameter or buffer of the model belongs to a quarantine; neither does any
tensor of the adapters' state; and the model's logits equal, bit for bit, those of a fresh base into
which the state was loaded and which never had a quarantine. Not covered: copies that a caller
holds elsewhere (an optimiser, a checkpoint written before).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from unhack.core.errors import UnhackError
from unhack.training.adapters.attached import AttachedAdapters, attach
from unhack.training.adapters.kinds import Tensors
from unhack.training.adapters.site import AdaptedLinear
from unhack.training.config.settings import AdapterSettings


class DeploymentError(UnhackError):
    """Error where something of the quarantine is left in what would be deployed."""


@dataclass(frozen=True, slots=True)
class DeploymentProof:
    """The parts of a model that were looked at and found clean."""

    modules: int
    """Adapted modules without a quarantine."""
    numbers: int
    """Numbers in the adapters' state."""
    logits: int
    """Logits that equal those of the load that never had a quarantine."""


@torch.no_grad()
def proof_of_deployment(
    model: nn.Module,
    adapters: AttachedAdapters,
    *,
    base: Callable[[], nn.Module],
    settings: AdapterSettings,
    tokens_B_T: Tensor,
) -> DeploymentProof:
    """Check a deployed model; `base()` makes the model as it was before adapters.

    Raises DeploymentError naming what is left or where logits differ.
    """
    sites = [item for item in model.modules() if isinstance(item, AdaptedLinear)]
    allowed = {id(part) for site in sites for part in (site.basis, site.deployed)}
    untyped: Any = model
    strays: list[str] = [
        name
        for name, item in untyped.named_modules()
        if (isinstance(item, Tensors) and id(item) not in allowed) or _of_quarantine(name)
    ]
    tensors: list[tuple[str, Any]] = [*model.named_parameters(), *model.named_buffers()]
    tensors += model.state_dict().items()
    strays += [name for name, _ in tensors if _of_quarantine(name)]
    if strays or len(sites) != len(adapters.names):
        raise DeploymentError(f"left in the modules: {', '.join(strays[:5]) or 'other sites'}")
    state = adapters.state()
    if left := [name for name in state if _of_quarantine(name)]:
        raise DeploymentError(f"left in the state: {', '.join(left[:5])}")
    fresh = base().to(tokens_B_T.device).train(model.training)
    attach(fresh, settings, seed=0, quarantine=False).load(state)
    found, wanted = _logits(model(tokens_B_T)), _logits(fresh(tokens_B_T))
    if not torch.equal(found, wanted):
        gap = float((found.double() - wanted.double()).abs().max())
        raise DeploymentError(f"logits differ from those of a fresh load, by up to {gap:.3g}")
    numbers = sum(tensor.numel() for tensor in state.values())
    return DeploymentProof(modules=len(sites), numbers=numbers, logits=found.numel())


def _of_quarantine(name: str) -> bool:
    return "quarantine" in name.split(".")


def _logits(output: Any) -> Tensor:
    """The logits of our Qwen3, or of a Hugging Face model's answer."""
    return output if isinstance(output, Tensor) else output.logits
