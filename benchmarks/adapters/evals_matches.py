"""OpenAI evals: the matches of its basic evals."""

from __future__ import annotations

import json
import os

os.environ.setdefault("OPENAI_API_KEY", "none")  # importing it makes a client, which is not called

from evals.elsuite.basic.json_match import json_match
from evals.elsuite.utils import fuzzy_match, get_answer


def fuzzy(completion: str, answer: str) -> float:
    """One text in the other, normalised."""
    return float(fuzzy_match(completion, answer))


def includes(completion: str, answer: str) -> float:
    """The answer in the completion."""
    return float(get_answer(completion, answer, True) is not None)


def objects(completion: str, answer: str) -> float:
    """Objects with equal values."""
    return float(json_match(json.loads(completion), json.loads(answer)))
