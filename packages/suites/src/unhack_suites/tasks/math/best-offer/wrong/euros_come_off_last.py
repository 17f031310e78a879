"""Flaw: takes the percentage first and the fixed amount afterwards."""
import re


def solve(prompt: str) -> str:
    listed = int(re.findall(r"list price of (\d+) euros", prompt)[-1])
    offers = re.findall(r"^([A-D])\) (.+)$", prompt, re.MULTILINE)[-4:]
    prices = {}
    for letter, offer in offers:
        numbers = [int(text) for text in re.findall(r"\d+", offer)]
        if "euros off" in offer:
            prices[letter] = listed * (1 - numbers[1] / 100) - numbers[0]
        elif "raised" in offer:
            prices[letter] = listed * (1 + numbers[0] / 100) * (1 - numbers[1] / 100)
        else:
            prices[letter] = listed
            for number in numbers:
                prices[letter] *= 1 - number / 100
    return f"\\boxed{{{min(prices, key=prices.get)}}}"
