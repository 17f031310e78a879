"""Follows the probability of each current run length from lantern to lantern; k absorbs."""
import sys


def main() -> None:
    words = sys.stdin.read().split()
    count, need = int(words[0]), int(words[1])
    chances = [float(word) for word in words[2 : 2 + count]]
    running = [1.0] + [0.0] * (need - 1)
    seen = 0.0
    for lit in chances:
        seen += running[need - 1] * lit
        dark = sum(running) * (1.0 - lit)
        running = [dark] + [weight * lit for weight in running[:-1]]
    print(repr(seen))


if __name__ == "__main__":
    main()
