"""A plain interpreter loop with an explicit check of stack depth before each card."""
import sys

LIMIT = 10**9
NEEDS = {
    "put": 0, "add": 2, "sub": 2, "mul": 2, "div": 2, "copy": 1, "swap": 2, "drop": 1,
    "say": 1, "hop": 0, "zero": 1,
}


def calculate(name: str, x: int, y: int) -> int | None:
    if name == "add":
        value = x + y
    elif name == "sub":
        value = x - y
    elif name == "mul":
        value = x * y
    elif y == 0:
        return None
    else:
        value = abs(x) // abs(y)
        if (x < 0) != (y < 0):
            value = -value
    return value if -LIMIT <= value <= LIMIT else None


def run(cards: list[list[str]]) -> list[str]:
    out: list[str] = []
    stack: list[int] = []
    at, steps = 1, 0
    while at <= len(cards):
        if steps == 1000:
            return [*out, "stuck"]
        steps += 1
        name, *rest = cards[at - 1]
        following = at + 1
        if len(stack) < NEEDS[name]:
            return [*out, f"fault {at}"]
        if name == "put":
            stack.append(int(rest[0]))
        elif name == "copy":
            stack.append(stack[-1])
        elif name == "swap":
            stack[-1], stack[-2] = stack[-2], stack[-1]
        elif name == "drop":
            stack.pop()
        elif name == "say":
            out.append(str(stack.pop()))
        elif name == "hop":
            following = int(rest[0])
        elif name == "zero":
            if stack.pop() == 0:
                following = int(rest[0])
        else:
            y = stack.pop()
            value = calculate(name, stack.pop(), y)
            if value is None:
                return [*out, f"fault {at}"]
            stack.append(value)
        at = following
    return [*out, "done"]


def main() -> None:
    lines = sys.stdin.read().splitlines()
    cards = [line.split() for line in lines[1 : 1 + int(lines[0])]]
    print("\n".join(run(cards)))


if __name__ == "__main__":
    main()
