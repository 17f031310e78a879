"""Keeps a stack of open entries (depth, path); pops those that are not shallower."""


def outline_paths(lines: list[str]) -> list[str]:
    paths: list[str] = []
    stack: list[tuple[int, str]] = []
    for line in lines:
        name = line.lstrip(".")
        if not name:
            continue
        depth = len(line) - len(name)
        while stack and stack[-1][0] >= depth:
            stack.pop()
        path = f"{stack[-1][1]}/{name}" if stack else name
        stack.append((depth, path))
        paths.append(path)
    return paths
