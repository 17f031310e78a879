def balanced(text):
    pairs = {")": "(", "]": "[", "}": "{"}
    stack = []
    for symbol in text:
        if symbol in pairs.values():
            stack.append(symbol)
        elif symbol in pairs and (not stack or stack.pop() != pairs[symbol]):
            return False
    return not stack
