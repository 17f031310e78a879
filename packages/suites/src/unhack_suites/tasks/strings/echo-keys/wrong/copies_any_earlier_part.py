"""Flaw: lets the echo copy any earlier part of the text, not only its end."""


def fewest_presses(target: str) -> int:
    size = len(target)
    best = [0] + [size] * size
    for end in range(1, size + 1):
        best[end] = best[end - 1] + 1
        for start in range(1, end):
            if target[start:end] in target[:start]:
                best[end] = min(best[end], best[start] + 2)
    return best[size]
