"""Flaw: strips spaces from the line, though spaces are ordinary characters."""


def outline_paths(lines: list[str]) -> list[str]:
    paths = []
    stack: list[tuple[int, str]] = []
    for raw in lines:
        line = raw.strip()
        name = line.lstrip(".")
        if not name:
            continue
        depth = len(line) - len(name)
        while stack and stack[-1][0] >= depth:
            stack.pop()
        path = stack[-1][1] + "/" + name if stack else name
        stack.append((depth, path))
        paths.append(path)
    return paths
