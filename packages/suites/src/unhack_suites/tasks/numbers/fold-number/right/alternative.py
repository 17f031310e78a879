"""Arithmetic only: the halves come from divmod by powers of ten; written as a recursion."""


def fold_chain(n: int) -> list[int]:
    if n < 10:
        return [n]
    size = 1
    while 10**size <= n:
        size += 1
    unit = 10 ** (size // 2)
    left, right = divmod(n, unit)
    if size % 2 == 0:
        folded = left - right if left > right else right - left
    else:
        folded = left // 10 * unit + right
    return [n] + fold_chain(folded)
