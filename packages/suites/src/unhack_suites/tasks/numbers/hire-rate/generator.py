"""Draws payments and a rate, then sets the price near the worth at that rate."""

import random


def generate(rng: random.Random) -> dict:
    while True:
        months = rng.choice([1, 2, 3, 6, 12, 24, 36])
        if rng.random() < 0.4:
            payments = [rng.randint(50, 3000)] * months
        else:
            tops = [rng.choice([0, 400, 9999]) for _ in range(months)]
            payments = [rng.randint(0, top) for top in tops]
        top_rate = rng.choice([0.0, 0.02, 0.05, 0.1, 0.3, 0.9])
        rate = rng.uniform(0, top_rate)
        worth = sum(p / (1 + rate) ** month for month, p in enumerate(payments, start=1))
        price = round(worth)
        lowest = sum(p / 2**month for month, p in enumerate(payments, start=1))
        if 100 <= price <= 100000 and lowest <= price <= sum(payments):
            return {"args": [price, payments]}
