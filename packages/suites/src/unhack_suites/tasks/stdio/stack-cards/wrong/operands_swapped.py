"""Flaw: takes the top of the stack as the left operand, so sub and div come out reversed."""
import sys

lines = sys.stdin.read().splitlines()
cards = [line.split() for line in lines[1:]]
stack: list[int] = []
at, steps, verdict = 1, 0, "done"
while at <= len(cards):
    if steps == 1000:
        verdict = "stuck"
        break
    steps += 1
    name, *rest = cards[at - 1]
    following = at + 1
    try:
        if name == "put":
            stack.append(int(rest[0]))
        elif name == "copy":
            stack.append(stack[-1])
        elif name == "swap":
            stack[-1], stack[-2] = stack[-2], stack[-1]
        elif name == "drop":
            stack.pop()
        elif name == "say":
            print(stack.pop())
        elif name == "hop":
            following = int(rest[0])
        elif name == "zero":
            if stack.pop() == 0:
                following = int(rest[0])
        else:
            x, y = stack.pop(), stack.pop()
            if name == "div":
                value = int(x / y)
            else:
                value = {"add": x + y, "sub": x - y, "mul": x * y}[name]
            if abs(value) > 10**9:
                raise OverflowError
            stack.append(value)
    except (IndexError, ZeroDivisionError, OverflowError):
        verdict = f"fault {at}"
        break
    at = following
print(verdict)
