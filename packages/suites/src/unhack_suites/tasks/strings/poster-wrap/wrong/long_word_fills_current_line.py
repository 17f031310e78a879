"""Flaw: a long word begins on the rest of the current line instead of on an empty one."""


def poster_lines(text: str, width: int) -> list[str]:
    lines: list[str] = []
    current = ""
    for word in text.split():
        if len(word) > width and current:
            room = width - len(current) - 1
            if room >= 2:
                lines.append(current + " " + word[: room - 1] + "-")
                word = word[room - 1 :]
                current = ""
        if current and len(current) + 1 + len(word) <= width:
            current += " " + word
            continue
        if current:
            lines.append(current)
        while len(word) > width:
            lines.append(word[: width - 1] + "-")
            word = word[width - 1 :]
        current = word
    if current:
        lines.append(current)
    return lines
