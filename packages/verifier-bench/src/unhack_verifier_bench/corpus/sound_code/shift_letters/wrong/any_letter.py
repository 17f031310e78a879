def shift_letters(text, by):
    result = ""
    for c in text:
        base = 97 if c.islower() else 65
        result += chr((ord(c) - base + by) % 26 + base) if c.isalpha() else c
    return result
