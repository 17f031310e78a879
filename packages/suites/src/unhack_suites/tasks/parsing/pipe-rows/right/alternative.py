"""Matches raw fields by regular expression, trims them still escaped, then unescapes."""

import re

FIELD = re.compile(r"((?:~.|[^~|]|~\Z)*)(\||\Z)", re.DOTALL)
ESCAPE = re.compile(r"~([|~n ])")
TRAILING = re.compile(r"(?:~.|[^~ ]|~\Z| +(?! |\Z))*", re.DOTALL)


def split_row(row: str) -> list[str]:
    fields: list[str] = []
    at = 0
    while True:
        match = FIELD.match(row, at)
        assert match is not None
        raw = TRAILING.match(match[1].lstrip(" "))[0]
        fields.append(ESCAPE.sub(lambda found: found[1].replace("n", "\n"), raw))
        if match[2] == "":
            return fields
        at = match.end()
