"""Flaw: a line of dots only is treated as an entry with an empty name."""


def outline_paths(lines: list[str]) -> list[str]:
    paths = []
    stack: list[tuple[int, str]] = []
    for line in lines:
        name = line.lstrip(".")
        depth = len(line) - len(name)
        while stack and stack[-1][0] >= depth:
            stack.pop()
        path = stack[-1][1] + "/" + name if stack else name
        stack.append((depth, path))
        paths.append(path)
    return paths
