"""Flaw: deletes a section as soon as a removal leaves it empty."""

import re


def load_settings(lines: list[str]) -> dict:
    root: dict = {}
    for raw in lines:
        line = raw.strip(" ")
        if not line or line.startswith(";"):
            continue
        left, equals, right = line.partition("=")
        path = left.rstrip("+ ") if equals else line[4:].strip(" ")
        *outer, last = path.split(".")
        trail = [root]
        for key in outer:
            inner = trail[-1].get(key)
            if inner is None and equals:
                inner = trail[-1][key] = {}
            if not isinstance(inner, dict):
                if equals:
                    raise ValueError(key)
                break
            trail.append(inner)
        if not equals:
            if len(trail) == len(outer) + 1 and last in trail[-1]:
                del trail[-1][last]
                for key in reversed(outer):
                    if trail.pop():
                        break
                    del trail[-1][key]
            continue
        text = right.strip(" ")
        value: object = int(text) if re.fullmatch("-?[0-9]+", text) else text
        if text in ("on", "off"):
            value = text == "on"
        if left.endswith("+"):
            items = trail[-1].setdefault(last, [])
            if not isinstance(items, list):
                raise ValueError(last)
            items.append(value)
        elif isinstance(trail[-1].get(last), dict):
            raise ValueError(last)
        else:
            trail[-1][last] = value
    return root
