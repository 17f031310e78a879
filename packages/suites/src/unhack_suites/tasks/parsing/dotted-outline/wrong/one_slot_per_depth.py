"""Flaw: cuts the trail to `depth` names, which fails where depths jump."""


def outline_paths(lines: list[str]) -> list[str]:
    paths = []
    trail: list[str] = []
    for line in lines:
        name = line.lstrip(".")
        if name:
            depth = len(line) - len(name)
            trail = [*trail[:depth], name]
            paths.append("/".join(trail))
    return paths
