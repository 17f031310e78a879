"""Looks upwards from each entry for the nearest shallower one and joins the names."""

import re


def outline_paths(lines: list[str]) -> list[str]:
    entries: list[tuple[int, str]] = []
    for line in lines:
        match = re.fullmatch(r"(\.*)([^.].*)", line)
        if match:
            entries.append((len(match[1]), match[2]))
    paths: list[str] = []
    for index, (depth, name) in enumerate(entries):
        parents = (i for i in range(index - 1, -1, -1) if entries[i][0] < depth)
        parent = next(parents, None)
        paths.append(name if parent is None else paths[parent] + "/" + name)
    return paths
