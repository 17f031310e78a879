"""Flaw: subtracts right from left without the absolute value."""


def fold_chain(n: int) -> list[int]:
    chain = [n]
    while n >= 10:
        s = str(n)
        half = len(s) // 2
        if len(s) % 2:
            n = int(s[:half] + s[half + 1 :])
        else:
            n = int(s[:half]) - int(s[half:])
        chain.append(n)
    return chain
