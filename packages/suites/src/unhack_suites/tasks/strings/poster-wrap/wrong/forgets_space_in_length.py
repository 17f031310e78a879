"""Flaw: the space before the word is not counted, so lines get one character too long."""


def poster_lines(text: str, width: int) -> list[str]:
    lines: list[str] = []
    current = ""
    for word in text.split():
        if current and len(current) + len(word) <= width:
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
