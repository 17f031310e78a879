"""Flaw: for an odd number of digits the halves beside the middle are subtracted at once."""


def fold_chain(n: int) -> list[int]:
    chain = [n]
    while n >= 10:
        s = str(n)
        half = len(s) // 2
        n = abs(int(s[:half]) - int(s[-half:]))
        chain.append(n)
    return chain
