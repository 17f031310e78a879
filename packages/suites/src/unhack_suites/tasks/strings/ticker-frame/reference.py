"""Index the endlessly repeated loop with a remainder, one place of the sign at a time."""


def ticker_frame(text: str, width: int, gap: int, tick: int) -> str:
    loop = text + " " * gap
    if not loop:
        return " " * width
    return "".join(loop[(tick + place) % len(loop)] for place in range(width))
