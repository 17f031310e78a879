"""Accepts any split that obeys the rules and reaches the smallest difference."""


def check(stdin: str, output: str, expected: str) -> bool:
    words = output.split()
    if not words or not all(word.isascii() and word.isdigit() and len(word) < 7 for word in words):
        return False
    data = [int(word) for word in stdin.split()]
    size, strength = data[0], data[1:]
    crew = [int(word) for word in words[1:]]
    if len(crew) != size // 2 or len(set(crew)) != len(crew) or 1 not in crew or 2 in crew:
        return False
    if not all(1 <= rower <= size for rower in crew):
        return False
    difference = abs(sum(strength) - 2 * sum(strength[rower - 1] for rower in crew))
    return difference == int(words[0]) == int(expected.split()[0])
