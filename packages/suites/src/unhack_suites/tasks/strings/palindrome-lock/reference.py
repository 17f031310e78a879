"""Forward counting: after each pattern character, how many readings end at each text position."""


def lock_readings(pattern: str, text: str) -> int:
    size = len(text)
    mirror = [[False] * (size + 1) for _ in range(size + 1)]
    for start in range(size, -1, -1):
        mirror[start][start] = True
        for end in range(start + 1, size + 1):
            ends_agree = text[start] == text[end - 1]
            mirror[start][end] = ends_agree and (end - start <= 2 or mirror[start + 1][end - 1])
    ways = [1] + [0] * size
    for symbol in pattern:
        after = [0] * (size + 1)
        for start, count in enumerate(ways):
            if count == 0:
                continue
            if symbol == "~":
                for end in range(start, size + 1):
                    if mirror[start][end]:
                        after[end] += count
            elif start < size:
                char = text[start]
                if symbol == "=":
                    fits = start > 0 and text[start - 1] == char
                else:
                    fits = symbol in (".", char)
                if fits:
                    after[start + 1] += count
        ways = after
    return ways[size]
