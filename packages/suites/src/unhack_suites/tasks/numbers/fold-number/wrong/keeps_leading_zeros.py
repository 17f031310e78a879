"""Flaw: the work goes on with strings, so leading zeros count as digits."""


def fold_chain(n: int) -> list[int]:
    text = str(n)
    chain = [n]
    while len(text) > 1:
        middle = len(text) // 2
        if len(text) % 2 == 0:
            value = abs(int(text[:middle]) - int(text[middle:]))
            text = str(value).zfill(middle)
        else:
            text = text[:middle] + text[middle + 1 :]
        chain.append(int(text))
    return chain
