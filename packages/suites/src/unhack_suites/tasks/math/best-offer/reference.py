"""Computes the four final prices in exact integers and picks the smallest."""
import re


def price(listed: int, offer: str) -> int:
    """Final price in units of 1/10000 of a euro."""
    numbers = [int(text) for text in re.findall(r"\d+", offer)]
    if "euros off" in offer:
        return (listed - numbers[0]) * (100 - numbers[1]) * 100
    if "raised" in offer:
        return listed * (100 + numbers[0]) * (100 - numbers[1])
    if len(numbers) == 2:
        return listed * (100 - numbers[0]) * (100 - numbers[1])
    return listed * (100 - numbers[0]) * 100


def solve(prompt: str) -> str:
    listed = int(re.findall(r"list price of (\d+) euros", prompt)[-1])
    offers = re.findall(r"^([A-D])\) (.+)$", prompt, re.MULTILINE)[-4:]
    prices = {letter: price(listed, offer) for letter, offer in offers}
    best = min(prices, key=prices.__getitem__)
    shown = ", ".join(f"{letter}: {amount / 10000:.2f}" for letter, amount in prices.items())
    return f"The final prices in euros are {shown}. \\boxed{{{best}}}"
