"""Flaw: the last piece of a long word gets a line of its own, nothing may follow it."""


def poster_lines(text: str, width: int) -> list[str]:
    lines: list[str] = []
    current: list[str] = []
    for word in text.split():
        if len(word) > width:
            if current:
                lines.append(" ".join(current))
                current = []
            while len(word) > width:
                lines.append(word[: width - 1] + "-")
                word = word[width - 1 :]
            lines.append(word)
        elif current and len(" ".join(current)) + 1 + len(word) > width:
            lines.append(" ".join(current))
            current = [word]
        else:
            current.append(word)
    if current:
        lines.append(" ".join(current))
    return lines
