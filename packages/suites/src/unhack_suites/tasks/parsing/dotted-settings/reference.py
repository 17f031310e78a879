"""Builds the nested dictionaries directly, walking down section by section."""

import re

INTEGER = re.compile(r"-?[0-9]+")


def _value(text: str) -> bool | int | str:
    if text in ("on", "off"):
        return text == "on"
    return int(text) if INTEGER.fullmatch(text) else text


def _drop(root: dict, path: str) -> None:
    *outer, last = path.split(".")
    section = root
    for key in outer:
        inner = section.get(key)
        if not isinstance(inner, dict):
            return
        section = inner
    section.pop(last, None)


def load_settings(lines: list[str]) -> dict:
    root: dict = {}
    for raw in lines:
        line = raw.strip(" ")
        if not line or line.startswith(";"):
            continue
        left, equals, right = line.partition("=")
        if not equals:
            _drop(root, line.removeprefix("drop").strip(" "))
            continue
        append = left.endswith("+")
        *outer, last = left.removesuffix("+").strip(" ").split(".")
        section = root
        for key in outer:
            section = section.setdefault(key, {})
            if not isinstance(section, dict):
                raise ValueError(f"{key} is not a section")
        value = _value(right.strip(" "))
        if append:
            items = section.setdefault(last, [])
            if not isinstance(items, list):
                raise ValueError(f"{last} is not a list")
            items.append(value)
        elif isinstance(section.get(last), dict):
            raise ValueError(f"{last} is a section")
        else:
            section[last] = value
    return root
