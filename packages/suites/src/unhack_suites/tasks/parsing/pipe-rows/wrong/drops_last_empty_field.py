"""Flaw: adds the last field only when it is not empty."""

ESCAPES = {"|": "|", "~": "~", "n": "\n", " ": "\0"}


def split_row(row: str) -> list[str]:
    fields = []
    field = ""
    at = 0
    while at < len(row):
        character = row[at]
        if character == "~" and at + 1 < len(row):
            field += ESCAPES.get(row[at + 1], row[at : at + 2])
            at += 2
            continue
        if character == "|":
            fields.append(field.strip(" ").replace("\0", " "))
            field = ""
        else:
            field += character
        at += 1
    if field:
        fields.append(field.strip(" ").replace("\0", " "))
    return fields
