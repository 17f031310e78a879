"""Flaw: overlooks that a shop raises its price before the discount."""
import re


def solve(prompt: str) -> str:
    listed = int(re.findall(r"list price of (\d+) euros", prompt)[-1])
    offers = re.findall(r"^([A-D])\) (.+)$", prompt, re.MULTILINE)[-4:]
    prices = {}
    for letter, offer in offers:
        amount = float(listed)
        for euros in re.findall(r"(\d+) euros off", offer):
            amount -= int(euros)
        for percent in re.findall(r"(\d+)% off", offer):
            amount *= 1 - int(percent) / 100
        prices[letter] = amount
    return f"\\boxed{{{min(prices, key=prices.get)}}}"
