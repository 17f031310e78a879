"""A reward file for OpenRLHF where the label of a row is its right answer.

    --reward.remote_url /path/to/site-packages/unhack/integrations/openrlhf/answers.py
    --data.label_key answer

Covered: labels as published data sets of mathematics have them (`verifiers.answers.gold`). One that
cannot be read is logged and ends the step, as in `reward`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unhack.integrations.answers import AnswerTasks
from unhack.integrations.openrlhf.reward import judge_call

_ANSWERS = AnswerTasks("label")


def reward_func(
    queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]
) -> dict[str, Any]:
    """As `reward.reward_func`. Raises GoldError for a label that is no answer."""
    return judge_call(queries, prompts, labels, find=lambda label: _ANSWERS({"label": label}))
