def seconds(text):
    raise ValueError("not a duration")
