"""Works on the decimal string of each number."""


def fold_chain(n: int) -> list[int]:
    chain = [n]
    while chain[-1] >= 10:
        digits = str(chain[-1])
        middle = len(digits) // 2
        if len(digits) % 2 == 0:
            chain.append(abs(int(digits[:middle]) - int(digits[middle:])))
        else:
            chain.append(int(digits[:middle] + digits[middle + 1 :]))
    return chain
