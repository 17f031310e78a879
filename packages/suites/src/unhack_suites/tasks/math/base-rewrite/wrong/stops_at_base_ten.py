"""Flaw: converts to base ten and gives that as the answer."""
import re


def solve(prompt: str) -> str:
    text, old = re.findall(r"display shows (\w+) in base (\d+)", prompt)[-1]
    return f"\\boxed{{{int(text, int(old))}}}"
