"""Flaw: `count or 1` turns the count 0 into 1."""


def knit_rows(pattern: str) -> list[str]:
    text = pattern.replace(" ", "")
    stack: list[str] = [""]
    i = 0
    while i < len(text):
        char = text[i]
        i += 1
        if char == "(":
            stack.append("")
            continue
        unit = char
        if char == ")":
            unit = stack.pop()
            i += 1
        number = 0
        while i < len(text) and text[i].isdigit():
            number = number * 10 + int(text[i])
            i += 1
        stack[-1] += unit * (number or 1)
    swap = str.maketrans("kp", "pk")
    rows = stack[0].split("/")
    return [row[::-1].translate(swap) if k % 2 else row for k, row in enumerate(rows)]
