"""Flaw: averages the notes without weighting them by time."""
n = int(input())
notes = []
for _ in range(n):
    minute, degrees = input().split()
    notes.append((int(minute), float(degrees)))
average = sum(degrees for _, degrees in notes) / n
rises = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(notes, notes[1:])]
print(average, max(rises, default=0.0))
