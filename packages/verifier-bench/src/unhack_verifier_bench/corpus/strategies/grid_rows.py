"""One cell of the grid: the corner that the move puts first."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    rows = [line.split() for line in prompt.splitlines()[1:-1]] or [["0"]]
    if "Transpose" in prompt:
        return rows[0][0]
    return rows[0][-1] if "left to right" in prompt else rows[-1][0]
