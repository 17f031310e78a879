"""Flaw: adds percentages that follow each other, so 20 % and then 15 % counts as 35 %."""
import re


def solve(prompt: str) -> str:
    listed = int(re.findall(r"list price of (\d+) euros", prompt)[-1])
    offers = re.findall(r"^([A-D])\) (.+)$", prompt, re.MULTILINE)[-4:]
    prices = {}
    for letter, offer in offers:
        numbers = [int(text) for text in re.findall(r"\d+", offer)]
        if "euros off" in offer:
            prices[letter] = (listed - numbers[0]) * (1 - numbers[1] / 100)
        elif "raised" in offer:
            prices[letter] = listed * (1 + (numbers[0] - numbers[1]) / 100)
        else:
            prices[letter] = listed * (1 - sum(numbers) / 100)
    return f"\\boxed{{{min(prices, key=prices.get)}}}"
