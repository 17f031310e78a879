"""Finds the highest power of the new base first and fills the places from left to right."""
import re


def solve(prompt: str) -> str:
    story = prompt[prompt.rindex("A display shows") :]
    text = story.split()[3]
    bases = [int(number) for number in re.findall(r"base (\d+)", story)]
    value = 0
    for letter in text:
        value = value * bases[0] + "0123456789ABCDEF".index(letter)
    place = 1
    while place * bases[1] <= value:
        place *= bases[1]
    digits = []
    while place:
        digits.append(f"{value // place:X}")
        value %= place
        place //= bases[1]
    return f"From the highest place down: {' '.join(digits)}.\n$\\boxed{{{''.join(digits)}}}$"
