"""Two stacks, one of values and one of operators with their binding strength."""

from collections.abc import Callable

STRENGTH = {"<": 1, ">": 1, "+": 2, "-": 2, "*": 3, "/": 3, "sign": 4}


def _divide(a: int, b: int) -> int:
    if b == 0:
        raise ValueError("division by zero")
    quotient, rest = divmod(a, b)
    return quotient + 1 if rest and quotient < 0 else quotient


APPLY: dict[str, Callable[[int, int], int]] = {
    "<": min,
    ">": max,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
}


def tide_value(text: str) -> int:
    values: list[int] = []
    operators: list[str] = []

    def reduce_while(strength: int) -> None:
        while operators and operators[-1] != "(" and STRENGTH[operators[-1]] >= strength:
            operator = operators.pop()
            right = values.pop()
            if operator == "sign":
                values.append(-right)
            else:
                values.append(APPLY[operator](values.pop(), right))

    operand_expected = True
    digits = ""
    for character in text + " ":
        if character.isdigit():
            digits += character
            continue
        if digits:
            values.append(int(digits))
            digits = ""
            operand_expected = False
        if character == "(":
            operators.append("(")
        elif character == ")":
            reduce_while(0)
            operators.pop()
        elif character == "-" and operand_expected:
            operators.append("sign")
        elif character != " ":
            reduce_while(STRENGTH[character])
            operators.append(character)
            operand_expected = True
    reduce_while(0)
    return values[0]
