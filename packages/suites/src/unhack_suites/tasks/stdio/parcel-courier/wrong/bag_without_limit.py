"""Flaw: ignores the size of the bag and picks up every parcel the courier walks over."""
rows, columns, bag = map(int, input().split())
plan = [input().strip() for _ in range(rows)]
cells = {(r, c): plan[r][c] for r in range(rows) for c in range(columns) if plan[r][c] != "#"}
start = next(cell for cell, mark in cells.items() if mark == "S")
waiting = frozenset(mark for mark in cells.values() if mark in "abcd")
frontier = [(start, waiting, frozenset())]
seen = set(frontier)
steps, answer = 0, -1
while frontier and answer < 0:
    following = []
    for (r, c), left, carried in frontier:
        if not left and not carried:
            answer = steps
            break
        for cell in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
            if cell not in cells:
                continue
            mark = cells[cell]
            now_left, now_carried = left, carried
            if mark in left:
                now_left, now_carried = left - {mark}, carried | {mark}
            now_carried = now_carried - {mark.lower()} if mark.isupper() else now_carried
            state = (cell, now_left, now_carried)
            if state not in seen:
                seen.add(state)
                following.append(state)
    frontier = following
    steps += 1
print(answer)
