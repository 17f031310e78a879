"""Flaw: writes the digits from ten on as 10, 11, ... instead of as letters."""
import re


def solve(prompt: str) -> str:
    text, old, new = re.findall(r"shows (\w+) in base (\d+).*?to base (\d+)", prompt, re.DOTALL)[-1]
    rest = int(text, int(old))
    digits = ""
    while rest:
        rest, digit = divmod(rest, int(new))
        digits = str(digit) + digits
    return f"\\boxed{{{digits or '0'}}}"
