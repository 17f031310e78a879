"""Flaw: starts the maximum at 0, so a kiln that only cools gets a rise of 0."""
n = int(input())
notes = []
for _ in range(n):
    minute, degrees = input().split()
    notes.append((int(minute), float(degrees)))
if n == 1:
    print(notes[0][1], 0.0)
else:
    area = 0.0
    fastest = 0.0
    for (t0, d0), (t1, d1) in zip(notes, notes[1:]):
        area += (t1 - t0) * (d0 + d1) / 2
        fastest = max(fastest, (d1 - d0) / (t1 - t0))
    print(area / (notes[-1][0] - notes[0][0]), fastest)
