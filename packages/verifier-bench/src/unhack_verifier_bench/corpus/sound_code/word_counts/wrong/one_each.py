import re


def word_counts(text):
    return {word: 1 for word in re.findall("[a-z]+", text.lower())}
