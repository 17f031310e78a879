def shift_letters(text, by):
    result = []
    for character in text:
        if "a" <= character <= "z":
            character = chr((ord(character) - 97 + by) % 26 + 97)
        elif "A" <= character <= "Z":
            character = chr((ord(character) - 65 + by) % 26 + 65)
        result.append(character)
    return "".join(result)
