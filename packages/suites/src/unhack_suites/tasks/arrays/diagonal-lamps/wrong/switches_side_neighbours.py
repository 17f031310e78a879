"""Flaw: switches the neighbours at the sides instead of the diagonal ones."""


def lamp_presses(lamps: list[list[int]]) -> list[list[int]] | None:
    rows, cols = len(lamps), len(lamps[0])
    size = rows * cols
    system = []
    for r in range(rows):
        for c in range(cols):
            line = 0
            for y, x in ((r, c), (r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
                if 0 <= y < rows and 0 <= x < cols:
                    line |= 1 << (y * cols + x)
            system.append(line | lamps[r][c] << size)
    rank = 0
    where = []
    for col in range(size):
        for i in range(rank, size):
            if system[i] >> col & 1:
                system[rank], system[i] = system[i], system[rank]
                for k in range(size):
                    if k != rank and system[k] >> col & 1:
                        system[k] ^= system[rank]
                where.append(col)
                rank += 1
                break
    if any(line >> size for line in system[rank:]):
        return None
    return [[col // cols, col % cols] for i, col in enumerate(where) if system[i] >> size & 1]
