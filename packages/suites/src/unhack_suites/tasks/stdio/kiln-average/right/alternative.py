"""Weights each note by half the time to its neighbours, in exact fractions."""
from fractions import Fraction

notes = [input().split() for _ in range(int(input()))]
times = [int(minute) for minute, _ in notes]
heat = [Fraction(degrees) for _, degrees in notes]
last = len(notes) - 1

if last == 0:
    print(float(heat[0]), 0)
else:
    weighted = Fraction(0)
    for i, value in enumerate(heat):
        weighted += value * (times[min(i + 1, last)] - times[max(i - 1, 0)])
    mean = weighted / (2 * (times[-1] - times[0]))
    rises = [(b - a) / (t - s) for a, b, s, t in zip(heat, heat[1:], times, times[1:])]
    print(float(mean), float(max(rises)))
