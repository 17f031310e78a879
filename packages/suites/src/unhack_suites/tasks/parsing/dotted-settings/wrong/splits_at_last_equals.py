"""Flaw: separates path and value at the last = of the line."""

import re


def load_settings(lines: list[str]) -> dict:
    root: dict = {}
    for raw in lines:
        line = raw.strip()
        if not line or line[0] == ";":
            continue
        append = False
        if "=" in line:
            left, right = line.rsplit("=", 1)
            append = left.endswith("+")
            keys = left.rstrip("+").strip().split(".")
            text = right.strip()
            value = {"on": True, "off": False}.get(text, text)
            if re.fullmatch("-?[0-9]+", text):
                value = int(text)
        else:
            keys = line[4:].strip().split(".")
        section = root
        for key in keys[:-1]:
            if "=" not in line and key not in section:
                section = {}
                break
            section = section.setdefault(key, {})
            if not isinstance(section, dict):
                if "=" in line:
                    raise ValueError(line)
                section = {}
                break
        last = keys[-1]
        if "=" not in line:
            section.pop(last, None)
        elif append:
            if not isinstance(section.setdefault(last, []), list):
                raise ValueError(line)
            section[last].append(value)
        elif isinstance(section.get(last), dict):
            raise ValueError(line)
        else:
            section[last] = value
    return root
