def letter_runs(text):
    return [[character, text.count(character)] for character in dict.fromkeys(text)]
