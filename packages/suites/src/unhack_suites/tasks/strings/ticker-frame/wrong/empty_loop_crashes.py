"""Flaw: divides by the length of the loop even when the loop is empty."""


def ticker_frame(text: str, width: int, gap: int, tick: int) -> str:
    loop = text + " " * gap
    start = tick % len(loop)
    repeated = loop * (width // len(loop) + 2)
    return repeated[start : start + width]
