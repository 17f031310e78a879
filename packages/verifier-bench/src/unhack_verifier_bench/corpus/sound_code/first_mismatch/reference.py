def first_mismatch(text):
    pairs = {")": "(", "]": "[", "}": "{"}
    stack = []
    for at, symbol in enumerate(text):
        if symbol in "([{":
            stack.append(at)
        elif symbol in pairs:
            if not stack or text[stack.pop()] != pairs[symbol]:
                return at
    return stack[0] if stack else -1
