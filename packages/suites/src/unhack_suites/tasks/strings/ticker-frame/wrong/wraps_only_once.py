"""Flaw: the loop is doubled once, so a wide sign gets too few characters."""


def ticker_frame(text: str, width: int, gap: int, tick: int) -> str:
    loop = text + " " * gap
    if not loop:
        return " " * width
    start = tick % len(loop)
    return (loop + loop)[start : start + width]
