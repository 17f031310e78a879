"""Gaussian elimination over GF(2): one unknown per button, one equation per lamp."""


def lamp_presses(lamps: list[list[int]]) -> list[list[int]] | None:
    rows, cols = len(lamps), len(lamps[0])
    cells = rows * cols
    equations = []
    for r in range(rows):
        for c in range(cols):
            mask = 0
            for y, x in ((r, c), (r - 1, c - 1), (r - 1, c + 1), (r + 1, c - 1), (r + 1, c + 1)):
                if 0 <= y < rows and 0 <= x < cols:
                    mask |= 1 << (y * cols + x)
            equations.append(mask | lamps[r][c] << cells)
    pivots: list[tuple[int, int]] = []
    done = 0
    for column in range(cells):
        pivot = next((i for i in range(done, cells) if equations[i] >> column & 1), None)
        if pivot is None:
            continue
        equations[done], equations[pivot] = equations[pivot], equations[done]
        for i in range(cells):
            if i != done and equations[i] >> column & 1:
                equations[i] ^= equations[done]
        pivots.append((column, done))
        done += 1
    if any(equation >> cells & 1 for equation in equations[done:]):
        return None
    chosen = [column for column, i in pivots if equations[i] >> cells & 1]
    return [list(divmod(column, cols)) for column in chosen]
