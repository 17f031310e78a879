"""Flaw: the list begins with the first fold unless there is none."""


def fold_chain(n: int) -> list[int]:
    chain: list[int] = []
    while n > 9:
        s = str(n)
        half = len(s) // 2
        if len(s) % 2:
            n = int(s[:half] + s[half + 1 :])
        else:
            n = abs(int(s[:half]) - int(s[half:]))
        chain.append(n)
    return chain or [n]
