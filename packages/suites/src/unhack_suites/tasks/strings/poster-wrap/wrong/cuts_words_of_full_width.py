"""Flaw: `>=` instead of `>`, so a rest that just fits is cut once more."""


def poster_lines(text: str, width: int) -> list[str]:
    lines: list[str] = []
    current = ""
    for word in text.split():
        if current and len(current) + 1 + len(word) <= width:
            current += " " + word
            continue
        if current:
            lines.append(current)
        while len(word) >= width:
            lines.append(word[: width - 1] + "-")
            word = word[width - 1 :]
        current = word
    if current:
        lines.append(current)
    return lines
