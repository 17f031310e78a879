"""Keeps flat tables of leaves and sections by path, and nests them only at the end."""

import re

LINE = re.compile(r"([a-z0-9.-]+) *(\+?)= *(.*)", re.DOTALL)

Path = tuple[str, ...]


def _parse(text: str) -> bool | int | str:
    match text:
        case "on":
            return True
        case "off":
            return False
    digits = text[1:] if text.startswith("-") else text
    return int(text) if digits and not set(digits) - set("0123456789") else text


def load_settings(lines: list[str]) -> dict:
    leaves: dict[Path, object] = {}
    sections: set[Path] = {()}
    for line in (raw.strip(" ") for raw in lines):
        if line == "" or line[0] == ";":
            continue
        match = LINE.fullmatch(line)
        if match is None:
            gone: Path = tuple(line[4:].lstrip(" ").split("."))
            leaves = {p: v for p, v in leaves.items() if p[: len(gone)] != gone}
            sections = {p for p in sections if p[: len(gone)] != gone}
            continue
        path: Path = tuple(match[1].split("."))
        outer = [path[:n] for n in range(1, len(path))]
        if path in sections or any(p in leaves for p in outer):
            raise ValueError("conflict")
        sections.update(outer)
        value = _parse(match[3])
        if not match[2]:
            leaves[path] = value
        elif isinstance(leaves.setdefault(path, []), list):
            leaves[path] = [*leaves[path], value]
        else:
            raise ValueError("not a list")
    nested: dict[Path, dict] = {p: {} for p in sections}
    for p in sections - {()}:
        nested[p[:-1]][p[-1]] = nested[p]
    for p, leaf in leaves.items():
        nested[p[:-1]][p[-1]] = leaf
    return nested[()]
