"""Converts to an integer, then takes remainders of the new base."""
import re


def solve(prompt: str) -> str:
    text, old, new = re.findall(r"shows (\w+) in base (\d+).*?to base (\d+)", prompt, re.DOTALL)[-1]
    value = int(text, int(old))
    base = int(new)
    rest = value
    digits = ""
    while rest:
        rest, digit = divmod(rest, base)
        digits = "0123456789ABCDEF"[digit] + digits
    return f"In base ten the number is {value}. \\boxed{{{digits or '0'}}}"
