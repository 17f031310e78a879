"""Flaw: tries int() on the value, which also takes +5, 1_000 and foreign digits."""


def load_settings(lines: list[str]) -> dict:
    root: dict = {}
    for raw in lines:
        line = raw.strip(" ")
        if not line or line.startswith(";"):
            continue
        left, equals, right = line.partition("=")
        if not equals:
            *outer, last = line[4:].strip(" ").split(".")
            section: object = root
            for key in outer:
                section = section.get(key) if isinstance(section, dict) else None
            if isinstance(section, dict):
                section.pop(last, None)
            continue
        text = right.strip(" ")
        value: object
        try:
            value = int(text)
        except ValueError:
            value = {"on": True, "off": False}.get(text, text)
        *outer, last = left.rstrip("+ ").split(".")
        node = root
        for key in outer:
            node = node.setdefault(key, {})
            if not isinstance(node, dict):
                raise ValueError(key)
        if left.endswith("+"):
            items = node.setdefault(last, [])
            if not isinstance(items, list):
                raise ValueError(last)
            items.append(value)
        elif isinstance(node.get(last), dict):
            raise ValueError(last)
        else:
            node[last] = value
    return root
