"""Four close offers of different kinds for one list price, in random order, one of them best."""
import random

GOODS = ["a tent", "a bicycle", "a winter coat", "an oak table", "a pair of skis"]


def row(goods: str, listed: int, offers: list[tuple[str, int, int]]) -> dict[str, str]:
    """One problem; an offer is (kind, x, y) with the kinds plain, double, euros and raised."""
    texts = {
        "plain": "{x}% off the list price",
        "double": "{x}% off the list price, then {y}% off the reduced price",
        "euros": "{x} euros off the list price, then {y}% off what is left",
        "raised": "the list price is raised by {x}%, then {y}% off the raised price",
    }
    lines = []
    prices = []
    for letter, (kind, x, y) in zip("ABCD", offers):
        lines.append(f"{letter}) {texts[kind].format(x=x, y=y)}")
        share = {"plain": 100, "double": 100 - y, "euros": 100 - y, "raised": 100 - y}[kind]
        base = {
            "plain": listed * (100 - x),
            "double": listed * (100 - x),
            "euros": (listed - x) * 100,
            "raised": listed * (100 + x),
        }[kind]
        prices.append(base * share)
    best = min(prices)
    if prices.count(best) != 1:
        raise ValueError("two shops ask the same lowest price")
    prompt = (
        f"Four shops sell {goods} with the same list price of {listed} euros. Their offers are:\n"
        + "\n".join(lines)
        + "\nWhich shop asks the lowest final price? Put the letter of that shop in \\boxed{}."
    )
    return {"prompt": prompt, "answer": "ABCD"[prices.index(best)]}


def generate(rng: random.Random) -> dict[str, str]:
    while True:
        listed = 10 * rng.randint(6, 60)
        cut = rng.randint(22, 40)
        offers = []
        for kind in ("plain", "double", "euros", "raised"):
            near = cut + rng.randint(-4, 4)
            if kind == "plain":
                offers.append((kind, near, 0))
            elif kind == "double":
                x = rng.randint(5, near - 3)
                offers.append((kind, x, near - x + rng.randint(0, 5)))
            elif kind == "euros":
                y = rng.randint(5, 15)
                offers.append((kind, max(1, listed * (near - y) // 100 + rng.randint(0, 5)), y))
            else:
                x = rng.randint(3, 15)
                offers.append((kind, x, near + rng.randint(x // 2, x)))
        rng.shuffle(offers)
        try:
            return row(rng.choice(GOODS), listed, offers)
        except ValueError:
            continue
