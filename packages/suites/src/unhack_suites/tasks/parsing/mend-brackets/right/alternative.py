"""Left to right with the stack of open brackets as state, keeping the cheapest text for each."""

PARTNER = {")": "(", "]": "[", "}": "{"}
CLOSING = {open_: close for close, open_ in PARTNER.items()}


def _moves(stack: str, character: str, depth: int) -> list[tuple[str, int, str]]:
    """New stack, insertions made and text written for one more character."""
    if character not in PARTNER and character not in CLOSING:
        return [(stack, 0, character)]
    moves = []
    if character in PARTNER and stack.endswith(PARTNER[character]):
        moves.append((stack[:-1], 0, character))
    if len(stack) < depth:
        if character in CLOSING:
            moves.append((stack + character, 0, character))
            moves.append((stack, 1, character + CLOSING[character]))
        else:
            moves.append((stack, 1, PARTNER[character] + character))
    return moves


def mend_brackets(text: str, depth: int) -> str:
    cheapest: dict[str, tuple[int, str]] = {"": (0, "")}
    for character in text:
        following: dict[str, tuple[int, str]] = {}
        for stack, (cost, written) in cheapest.items():
            for new_stack, inserted, piece in _moves(stack, character, depth):
                total = cost + inserted
                if new_stack not in following or total < following[new_stack][0]:
                    following[new_stack] = (total, written + piece)
        cheapest = following
    return cheapest[""][1]
