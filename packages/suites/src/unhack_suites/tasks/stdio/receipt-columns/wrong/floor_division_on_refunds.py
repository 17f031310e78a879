"""Flaw: divides negative cents with // and %, so -15 cents prints as -1.85."""
import sys


def money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def main() -> None:
    lines = sys.stdin.read().splitlines()
    names: list[str] = []
    amounts: list[int] = []
    for line in lines[1 : 1 + int(lines[0])]:
        name, quantity, unit = line.split()
        names.append(name)
        amounts.append(int(quantity) * int(unit))
    names.append("TOTAL")
    amounts.append(sum(amounts))
    texts = [money(cents) for cents in amounts]
    left = max(map(len, names))
    right = max(map(len, texts))
    rows = [f"{name:<{left}}  {text:>{right}}" for name, text in zip(names, texts)]
    rows.insert(len(rows) - 1, "-" * (left + 2 + right))
    print("\n".join(rows))


if __name__ == "__main__":
    main()
