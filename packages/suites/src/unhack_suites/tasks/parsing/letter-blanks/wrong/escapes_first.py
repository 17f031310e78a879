"""Flaw: turns << into < before looking for blanks, so <<name> becomes a blank."""

import re


def fill_letter(template: str, values: dict[str, str]) -> str:
    text = template.replace("<<", "<")
    return re.sub(
        r"<([a-z0-9_]+)>", lambda match: values.get(match[1], f"[{match[1]}?]"), text
    )
