"""Flaw: divides by the last minute, which is the time span only if the notes start at minute 0."""
n = int(input())
notes = []
for _ in range(n):
    minute, degrees = input().split()
    notes.append((int(minute), float(degrees)))
if n == 1:
    print(notes[0][1], 0.0)
else:
    area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(notes, notes[1:]))
    rises = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(notes, notes[1:])]
    print(area / notes[-1][0], max(rises))
