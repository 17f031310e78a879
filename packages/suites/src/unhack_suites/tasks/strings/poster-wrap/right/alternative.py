"""Cut all words into pieces first, marking where a line must break, then pack the pieces."""


def _pieces(word: str, width: int) -> list[str]:
    count = 1 if len(word) <= width else 1 + -(-(len(word) - width) // (width - 1))
    cuts = [k * (width - 1) for k in range(count)]
    parts = [word[a:b] + "-" for a, b in zip(cuts, cuts[1:])]
    return parts + [word[cuts[-1] :]]


def poster_lines(text: str, width: int) -> list[str]:
    stream: list[tuple[str, bool]] = []
    for word in text.split():
        parts = _pieces(word, width)
        stream.extend((part, len(parts) > 1) for part in parts)
    lines: list[list[str]] = []
    room = -1
    for piece, fresh in stream:
        if fresh or room < len(piece) + 1:
            lines.append([piece])
            room = width - len(piece)
        else:
            lines[-1].append(piece)
            room -= len(piece) + 1
    return [" ".join(line) for line in lines]
