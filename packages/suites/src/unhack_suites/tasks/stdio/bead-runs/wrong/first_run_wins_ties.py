"""Flaw: on equal lengths keeps the run that is found first, not the smallest letter."""
for _ in range(int(input())):
    beads = input().strip()
    size = len(beads)
    best_colour, best_length = "", 0
    for start in range(size):
        length = 1
        while length < size and beads[(start + length) % size] == beads[start]:
            length += 1
        if length > best_length:
            best_colour, best_length = beads[start], length
    print(best_colour, best_length)
