def word_counts(text):
    counts = {}
    word = ""
    for character in text + " ":
        if "A" <= character <= "Z":
            character = chr(ord(character) + 32)
        if "a" <= character <= "z":
            word += character
        elif word:
            counts[word] = counts.get(word, 0) + 1
            word = ""
    return counts
