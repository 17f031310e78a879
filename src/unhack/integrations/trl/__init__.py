"""Rewards, monitors and environments for TRL; what needs no trainer to be installed stands here."""

from unhack.integrations.answers import AnswerTasks
from unhack.integrations.trl.monitoring import Monitor, RewardCall
from unhack.integrations.trl.rewards import (
    RewardFunction,
    hooks,
    reward_function,
)
from unhack.integrations.trl.watching import watch

__all__ = [
    "AnswerTasks",
    "Monitor",
    "RewardCall",
    "RewardFunction",
    "hooks",
    "reward_function",
    "watch",
]
