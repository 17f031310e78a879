"""Flaw: picks the shop that advertises the largest single percentage off."""
import re


def solve(prompt: str) -> str:
    offers = re.findall(r"^([A-D])\) (.+)$", prompt, re.MULTILINE)[-4:]
    best = max(offers, key=lambda pair: max(map(int, re.findall(r"(\d+)% off", pair[1]))))
    return f"\\boxed{{{best[0]}}}"
