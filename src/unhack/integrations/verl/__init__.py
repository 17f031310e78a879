"""Rewards for verl; what needs verl to be installed stands in modules of its own."""

from unhack.integrations.verl.scores import answer_score, compute_score

__all__ = ["answer_score", "compute_score"]
