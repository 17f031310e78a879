"""Flaw: collects the remainders from low to high and forgets to turn them round."""
import re


def solve(prompt: str) -> str:
    text, old, new = re.findall(r"shows (\w+) in base (\d+).*?to base (\d+)", prompt, re.DOTALL)[-1]
    rest = int(text, int(old))
    digits = ""
    while rest:
        rest, digit = divmod(rest, int(new))
        digits += "0123456789ABCDEF"[digit]
    return f"\\boxed{{{digits or '0'}}}"
