"""Draws one marble after the other and adds up all colour orders; the fraction stays unreduced."""
import re
from itertools import product


def favourable(event: str, order: tuple[str, ...]) -> bool:
    hits = order.count(event.split()[-1])
    if event.startswith("exactly"):
        return hits == 1
    if event.startswith("none"):
        return hits == 0
    if event.startswith("at least"):
        return hits >= 1
    return len(set(order)) == 1


def solve(prompt: str) -> str:
    text, _, question = prompt[prompt.rindex("A bag holds") :].partition("probability that ")
    words = re.findall(r"\w+", text)
    bag = {word: int(words[i - 1]) for i, word in enumerate(words) if words[i - 1].isdigit()}
    drawn = bag.pop("marbles")
    event = question[: question.index("?")]
    top, bottom = 0, 1
    for step in range(drawn):
        bottom *= sum(bag.values()) - step
    for order in product(bag, repeat=drawn):
        ways = 1
        for step, colour in enumerate(order):
            ways *= bag[colour] - order[:step].count(colour)
        if favourable(event, order):
            top += ways
    answer = f"{top}/{bottom}"
    if 10**6 * top % bottom == 0:
        answer = f"{top / bottom:g}" if 10**4 * top % bottom == 0 else f"{top / bottom:.6f}"
    return f"Of {bottom} equally likely sequences, {top} fit, which makes \\boxed{{{answer}}}."
