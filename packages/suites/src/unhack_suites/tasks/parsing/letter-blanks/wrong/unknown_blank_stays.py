"""Flaw: leaves a blank with an unknown name as it is, and treats an empty value as unknown."""

import re


def fill_letter(template: str, values: dict[str, str]) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[1] is None:
            return "<"
        return values.get(match[1]) or match[0]

    return re.sub(r"<<|<([a-z0-9_]+)>", replace, template)
