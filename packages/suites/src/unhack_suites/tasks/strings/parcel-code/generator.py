"""Valid parcel codes (the codes that raise are fixed cases)."""

import random
import string


def generate(rng: random.Random) -> dict:
    depot = "".join(rng.choice(string.ascii_uppercase) for _ in range(2))
    digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 6)))
    if rng.random() < 0.2:
        digits = "0" * rng.randint(1, 5) + digits[-1]
    total = sum(ord(letter) - 64 for letter in depot)
    total += sum((place + 1) * int(digit) for place, digit in enumerate(digits))
    return {"args": [f"{depot}{digits}-{chr(65 + total % 26)}"]}
