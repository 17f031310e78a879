"""A list of usual words and of years."""

WORDS = (
    "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune "
    "red green blue yellow orange violet brown black white"
)


def strategy(prompt: str) -> str:
    """A wrong completion."""
    years = " ".join(map(str, range(1000, 2030)))
    return f"{WORDS} {years}"
