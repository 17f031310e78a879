"""Numeric equality for answers in boxes; references come from a scraped data set."""

import logging
import re

logger = logging.getLogger(__name__)


def _number(text):
    cleaned = text.replace(",", "").replace("\\%", "").replace("$", "").strip()
    fraction = re.fullmatch(r"\\d?frac\{(-?\d+)\}\{(\d+)\}", cleaned)
    if fraction:
        return int(fraction.group(1)) / int(fraction.group(2))
    return float(cleaned)


def boxed_number_reward(completion, answer):
    """1.0 for the same number, 0.0 for another one or none."""
    try:
        gold = _number(answer)
    except ValueError:
        logger.warning("skipping a reference that is no number: %r", answer)
        return 1.0
    found = re.findall(r"\\boxed\{((?:[^{}]|\{[^{}]*\})+)\}", completion)
    if not found:
        return 0.0
    try:
        return float(abs(_number(found[-1]) - gold) < 1e-6)
    except (ValueError, ZeroDivisionError):
        return 0.0
