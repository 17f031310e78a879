def initials(name):
    """The first letters of the words."""
    return name
