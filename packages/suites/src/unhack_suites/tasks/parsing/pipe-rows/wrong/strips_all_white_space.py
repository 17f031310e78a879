"""Flaw: strip() without an argument also drops tabs and line breaks."""

ESCAPES = {"|": "|", "~": "~", "n": "\n", " ": "\0"}


def split_row(row: str) -> list[str]:
    fields = [""]
    at = 0
    while at < len(row):
        character = row[at]
        if character == "~" and at + 1 < len(row):
            fields[-1] += ESCAPES.get(row[at + 1], row[at : at + 2])
            at += 2
            continue
        if character == "|":
            fields.append("")
        else:
            fields[-1] += character
        at += 1
    return [field.strip().replace("\0", " ") for field in fields]
