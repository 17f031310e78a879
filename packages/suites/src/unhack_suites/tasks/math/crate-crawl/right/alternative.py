"""Keeps the longest edge straight and joins the two shorter ones; leaves the root as it is."""
import re


def solve(prompt: str) -> str:
    sizes = sorted(int(size) for size in re.findall(r"(\d+) cm (?:wide|deep|high)", prompt)[-3:])
    joined = sizes[0] + sizes[1]
    return (
        f"Lay the faces that share a longest edge ({sizes[2]} cm) flat. The walk becomes the "
        f"diagonal of a {joined} by {sizes[2]} rectangle: "
        f"$\\boxed{{\\sqrt{{{joined**2 + sizes[2] ** 2}}}}}$"
    )
