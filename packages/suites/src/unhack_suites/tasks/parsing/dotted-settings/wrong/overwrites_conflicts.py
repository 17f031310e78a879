"""Flaw: never raises ValueError; a conflicting value is replaced by a section or list."""

import re


def load_settings(lines: list[str]) -> dict:
    root: dict = {}
    for raw in lines:
        line = raw.strip()
        if not line or line[0] == ";":
            continue
        left, equals, right = line.partition("=")
        path = left.rstrip("+ ") if equals else line[4:].strip()
        *outer, last = path.split(".")
        section = root
        missing = False
        for key in outer:
            if not isinstance(section.get(key), dict):
                if not equals:
                    missing = True
                    break
                section[key] = {}
            section = section[key]
        if not equals:
            if not missing:
                section.pop(last, None)
            continue
        text = right.strip()
        value: object = text
        if text in ("on", "off"):
            value = text == "on"
        elif re.fullmatch("-?[0-9]+", text):
            value = int(text)
        if left.endswith("+"):
            if not isinstance(section.get(last), list):
                section[last] = []
            section[last].append(value)
        else:
            section[last] = value
    return root
