"""Flaw: undoes the escapes with chained replaces, so ~~n turns into a line break."""


def split_row(row: str) -> list[str]:
    text = row.replace("~|", "\1").replace("~ ", "\2")
    fields = [field.strip(" ") for field in text.split("|")]
    return [
        field.replace("~n", "\n").replace("~~", "~").replace("\1", "|").replace("\2", " ")
        for field in fields
    ]
