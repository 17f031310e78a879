"""Newton's form: first value, plus first difference, plus half the second difference."""
import re


def solve(prompt: str) -> str:
    figures = re.findall(r"figure (\d+) has (\d+) tiles", prompt)[-3:]
    numbers = [int(figure) for figure, _ in figures]
    tiles = [int(count) for _, count in figures]
    steps = [b - a for a, b in zip(tiles, tiles[1:])]
    bend = steps[1] - steps[0]
    one, two = (f"(n-{k})" if k else "n" for k in numbers[:2])
    text = f"{tiles[0]}+{steps[0]}\\cdot {one}" if steps[0] >= 0 else f"{tiles[0]}{steps[0]}{one}"
    if bend:
        text += f"{'+' if bend > 0 else '-'}\\frac{{{abs(bend)}{one}{two}}}{{2}}"
    return f"Steps {steps}, change of steps {bend}.\nThe rule is\n\\[\\boxed{{{text}}}\\]"
