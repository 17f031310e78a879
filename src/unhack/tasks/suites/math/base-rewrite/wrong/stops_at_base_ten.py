"""Flaw: converts to base ten and gives that as the answer."""
import re


def solve(prompt: str) -> str:
    text, old, _new = re.findall(r"shows (\w+) in base (\d+).*?to base (\d+)", prompt, re.DOTALL)[-1]
    return f"\\boxed{{{int(text, int(old))}}}"
