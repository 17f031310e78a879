"""Flaw: counts every dot of the line and strips dots at both ends of the name."""


def outline_paths(lines: list[str]) -> list[str]:
    paths = []
    stack: list[tuple[int, str]] = []
    for line in lines:
        name = line.strip(".")
        if not name:
            continue
        depth = line.count(".")
        while stack and stack[-1][0] >= depth:
            stack.pop()
        path = "/".join([entry for _, entry in stack] + [name])
        stack.append((depth, name))
        paths.append(path)
    return paths
