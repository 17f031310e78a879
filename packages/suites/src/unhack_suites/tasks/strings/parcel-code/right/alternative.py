"""No regular expression: cut the code by position and look every character up in a table."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"


def read_parcel_code(code: str) -> dict[str, object]:
    if not 5 <= len(code) <= 10 or code[-2] != "-":
        raise ValueError(code)
    depot, number_text, check = code[:2], code[2:-2], code[-1]
    total = 0
    for letter in depot:
        total += LETTERS.index(letter) + 1
    number = 0
    for place, char in enumerate(number_text):
        digit = DIGITS.index(char)
        total += digit * (place + 1)
        number = number * 10 + digit
    if LETTERS.index(check) != total % 26:
        raise ValueError(code)
    return {"depot": depot, "number": number}
