"""Flaw: replaces key by key, so text that was put in is read again."""

import re


def fill_letter(template: str, values: dict[str, str]) -> str:
    text = template.replace("<<", "\0")
    for name, value in values.items():
        text = text.replace(f"<{name}>", value)
    text = re.sub(r"<([a-z0-9_]+)>", r"[\1?]", text)
    return text.replace("\0", "<")
