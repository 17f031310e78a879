"""Character scanner that compares the halves letter by letter when a word ends."""


def _echoes(word: list[str]) -> bool:
    size = len(word)
    half = size // 2
    shift = size - half
    return size >= 2 and all(word[k] == word[k + shift] for k in range(half))


def echo_words(text: str) -> list[str]:
    found: list[str] = []
    word: list[str] = []
    for char in text + " ":
        if "a" <= char <= "z" or "A" <= char <= "Z":
            word.append(char.lower())
            continue
        if _echoes(word):
            found.append("".join(word))
        word = []
    return found
