def word_counts(text):
    words = text.lower().split()
    return {word: words.count(word) for word in words}
