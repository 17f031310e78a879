"""Flaw: solves the equations but does not notice that they contradict each other."""


def lamp_presses(lamps: list[list[int]]) -> list[list[int]] | None:
    rows, cols = len(lamps), len(lamps[0])
    size = rows * cols
    system = []
    for r in range(rows):
        for c in range(cols):
            line = lamps[r][c] << size
            for y in range(rows):
                for x in range(cols):
                    if (y, x) == (r, c) or abs(y - r) == abs(x - c) == 1:
                        line |= 1 << (y * cols + x)
            system.append(line)
    rank = 0
    where = []
    for col in range(size):
        found = [i for i in range(rank, size) if system[i] >> col & 1]
        if not found:
            continue
        system[rank], system[found[0]] = system[found[0]], system[rank]
        for k in range(size):
            if k != rank and system[k] >> col & 1:
                system[k] ^= system[rank]
        where.append(col)
        rank += 1
    return [[col // cols, col % cols] for i, col in enumerate(where) if system[i] >> size & 1]
