def word_lengths(text):
    return [len(word) for word in text.split()]
