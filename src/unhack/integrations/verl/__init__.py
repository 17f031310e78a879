"""Rewards for verl; what needs verl to be installed stands in modules of its own."""

from unhack.integrations.verl.scores import compute_score

__all__ = ["compute_score"]
