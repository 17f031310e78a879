"""Adapters with a deployed block and a quarantine that is deleted before deployment.

`attach` puts one kind of adapter in place of a model's linear maps: `svd`, `lora_frozen_b` or
`lora_split`. `proof_of_deployment` checks that a deleted quarantine left nothing behind.
"""

from unhack.training.adapters.attached import KINDS, AttachedAdapters, attach
from unhack.training.adapters.deployment import (
    DeploymentError,
    DeploymentProof,
    proof_of_deployment,
)

__all__ = [
    "KINDS",
    "AttachedAdapters",
    "DeploymentError",
    "DeploymentProof",
    "attach",
    "proof_of_deployment",
]
