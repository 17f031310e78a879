"""Flaw: reads the shown digits in base ten whenever they are all decimal digits."""
import re


def solve(prompt: str) -> str:
    text, old, new = re.findall(r"shows (\w+) in base (\d+).*?to base (\d+)", prompt, re.DOTALL)[-1]
    rest = int(text) if text.isdigit() else int(text, int(old))
    digits = ""
    while rest:
        rest, digit = divmod(rest, int(new))
        digits = "0123456789ABCDEF"[digit] + digits
    return f"\\boxed{{{digits or '0'}}}"
