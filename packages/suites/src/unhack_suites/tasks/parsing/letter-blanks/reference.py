"""A single regular-expression substitution handles escapes and blanks from left to right."""

import re

TOKEN = re.compile(r"<<|<([a-z0-9_]+)>")


def fill_letter(template: str, values: dict[str, str]) -> str:
    def replace(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return "<"
        return values.get(name, f"[{name}?]")

    return TOKEN.sub(replace, template)
