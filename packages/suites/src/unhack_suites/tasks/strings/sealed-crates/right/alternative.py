"""Left-to-right search over all useful stacks of open crates, keeping the shortest text of each."""

PAIRS = {"(": ")", "[": "]", "{": "}"}


def seal_crates(marks: str) -> str:
    openers = {closer: opener for opener, closer in PAIRS.items()}
    states: dict[str, str] = {"": ""}
    for position, mark in enumerate(marks):
        remaining = len(marks) - position - 1
        following: dict[str, str] = {}

        def offer(stack: str, text: str) -> None:
            if len(stack) > remaining:
                return
            if stack not in following or len(text) < len(following[stack]):
                following[stack] = text

        for stack, text in states.items():
            if mark in PAIRS:
                offer(stack + PAIRS[mark], text + mark)
                offer(stack, text + mark + PAIRS[mark])
            else:
                if stack.endswith(mark):
                    offer(stack[:-1], text + mark)
                offer(stack, text + openers[mark] + mark)
        states = following
    return states[""]
