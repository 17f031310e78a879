"""Flaw: takes everything up to the next > for a name, spaces and capitals included."""

import re


def fill_letter(template: str, values: dict[str, str]) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[0] == "<<":
            return "<"
        return values.get(match[1], f"[{match[1]}?]")

    return re.sub(r"<<|<([^<>]*)>", replace, template)
