def balanced(text):
    return all(text.count(left) == text.count(right) for left, right in ("()", "[]", "{}"))
