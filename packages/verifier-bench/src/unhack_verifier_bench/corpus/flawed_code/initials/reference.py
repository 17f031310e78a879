def initials(name):
    """The first letters of the words."""
    return "".join(f"{word[0].upper()}." for word in name.split())
