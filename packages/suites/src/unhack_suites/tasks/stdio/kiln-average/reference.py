"""Adds up the trapezoids between neighbouring notes and divides by the time span."""
import sys


def main() -> None:
    numbers = sys.stdin.read().split()
    count = int(numbers[0])
    minutes = [int(text) for text in numbers[1 : 1 + 2 * count : 2]]
    degrees = [float(text) for text in numbers[2 : 2 + 2 * count : 2]]
    if count == 1:
        print(degrees[0], 0.0)
        return
    area = 0.0
    fastest = float("-inf")
    for i in range(1, count):
        span = minutes[i] - minutes[i - 1]
        area += span * (degrees[i] + degrees[i - 1]) / 2
        fastest = max(fastest, (degrees[i] - degrees[i - 1]) / span)
    print(f"{area / (minutes[-1] - minutes[0]):.8f} {fastest:.8f}")


if __name__ == "__main__":
    main()
