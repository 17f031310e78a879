"""From each bead, walks clockwise while the colour stays the same, at most once around."""
for _ in range(int(input())):
    beads = input().strip()
    size = len(beads)
    best: dict[str, int] = {}
    for start, colour in enumerate(beads):
        length = 1
        while length < size and beads[(start + length) % size] == colour:
            length += 1
        best[colour] = max(best.get(colour, 0), length)
    top = max(best.values())
    for colour in sorted(best):
        if best[colour] == top:
            print(colour, top)
            break
