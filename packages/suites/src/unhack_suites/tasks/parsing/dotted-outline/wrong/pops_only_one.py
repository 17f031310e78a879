"""Flaw: closes at most one entry per line, so going back several levels keeps a wrong parent."""


def outline_paths(lines: list[str]) -> list[str]:
    paths = []
    stack: list[tuple[int, str]] = []
    for line in lines:
        name = line.lstrip(".")
        if not name:
            continue
        depth = len(line) - len(name)
        if stack and stack[-1][0] >= depth:
            stack.pop()
        path = stack[-1][1] + "/" + name if stack else name
        stack.append((depth, path))
        paths.append(path)
    return paths
