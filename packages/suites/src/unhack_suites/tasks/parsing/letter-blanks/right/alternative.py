"""Walks through the template with an index and looks ahead for the end of a blank."""

NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")


def fill_letter(template: str, values: dict[str, str]) -> str:
    pieces: list[str] = []
    at = 0
    while at < len(template):
        if template[at] != "<":
            pieces.append(template[at])
            at += 1
        elif template[at : at + 2] == "<<":
            pieces.append("<")
            at += 2
        else:
            end = at + 1
            while end < len(template) and template[end] in NAME_CHARACTERS:
                end += 1
            if end > at + 1 and template[end : end + 1] == ">":
                name = template[at + 1 : end]
                pieces.append(values[name] if name in values else "[" + name + "?]")
                at = end + 1
            else:
                pieces.append("<")
                at += 1
    return "".join(pieces)
