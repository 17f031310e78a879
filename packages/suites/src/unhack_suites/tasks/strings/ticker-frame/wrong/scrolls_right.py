"""Flaw: the content moves to the right instead of to the left."""


def ticker_frame(text: str, width: int, gap: int, tick: int) -> str:
    loop = text + " " * gap
    if not loop:
        return " " * width
    return "".join(loop[(place - tick) % len(loop)] for place in range(width))
