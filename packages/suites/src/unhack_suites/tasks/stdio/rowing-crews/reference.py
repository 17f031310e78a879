"""Subset sums by crew size, one bit set per size, kept for each rower so it can be traced back."""
import sys


def main() -> None:
    data = list(map(int, sys.stdin.read().split()))
    size, strength = data[0], data[1 : 1 + data[0]]
    places = size // 2 - 1
    layers = [[1] + [0] * places]
    for value in strength[2:]:
        old = layers[-1]
        layers.append([old[0]] + [old[k] | old[k - 1] << value for k in range(1, places + 1)])
    total = sum(strength)
    sums = [s for s in range(total + 1) if layers[-1][places] >> s & 1]
    best = min(sums, key=lambda s: abs(total - 2 * (s + strength[0])))
    crew = [1]
    left, k = best, places
    for rower in range(size - 1, 1, -1):
        if layers[rower - 2][k] >> left & 1:
            continue
        crew.append(rower + 1)
        left -= strength[rower]
        k -= 1
    print(abs(total - 2 * (best + strength[0])))
    print(*sorted(crew))


if __name__ == "__main__":
    main()
