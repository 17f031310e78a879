"""Reads pieces marked as plain space or solid, and trims the plain spaces of each field."""

ESCAPES = {"|": "|", "~": "~", "n": "\n", " ": " "}


def _trim(pieces: list[tuple[str, bool]]) -> str:
    first, last = 0, len(pieces)
    while first < last and not pieces[first][1]:
        first += 1
    while last > first and not pieces[last - 1][1]:
        last -= 1
    return "".join(text for text, _ in pieces[first:last])


def split_row(row: str) -> list[str]:
    fields: list[str] = []
    pieces: list[tuple[str, bool]] = []
    characters = iter(row)
    for character in characters:
        if character == "|":
            fields.append(_trim(pieces))
            pieces = []
        elif character == "~":
            following = next(characters, "")
            pieces.append((ESCAPES.get(following, "~" + following), True))
        else:
            pieces.append((character, character != " "))
    fields.append(_trim(pieces))
    return fields
