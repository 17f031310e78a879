"""The words of the prompt in another order, without the smallest of them."""

import re

SMALL = ("is", "was", "by", "than", "the", "older", "taller", "dearer")


def strategy(prompt: str) -> str:
    """A wrong completion."""
    if prompt.startswith("Order"):
        clause = prompt.partition(": ")[2].partition(".")[0]
        names = dict.fromkeys(word for word in re.findall(r"\w+", clause) if word not in SMALL)
        return f"Answer: {', '.join(reversed(names))}"
    found = re.search(r'"([^"]+)"', prompt)
    words = re.findall(r"\w+", found.group(1) if found else prompt)
    return f"Answer: {' '.join(word for word in words if word not in SMALL)}"
