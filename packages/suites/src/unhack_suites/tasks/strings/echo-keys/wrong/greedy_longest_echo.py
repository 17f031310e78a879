"""Flaw: always takes the longest echo that fits, which is not always best."""


def fewest_presses(target: str) -> int:
    length = presses = 0
    while length < len(target):
        best = 0
        for k in range(3, length + 1):
            if target[length : length + k] == target[length - k : length]:
                best = k
        if best:
            length += best
            presses += 2
        else:
            length += 1
            presses += 1
    return presses
