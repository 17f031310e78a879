"""Flaw: uses the absolute value of the tick, so going back equals going forward."""


def ticker_frame(text: str, width: int, gap: int, tick: int) -> str:
    loop = text + " " * gap
    if not loop:
        return " " * width
    start = abs(tick) % len(loop)
    repeated = loop * (width // len(loop) + 2)
    return repeated[start : start + width]
