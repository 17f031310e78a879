"""Files and numbers that a statement asks for, by its lines.

    asked_files("Save it to `/app/out.json`.")          # [AskedLine(1, "/app/out.json", …)]
    asked_numbers("It must take at most 5 seconds.")    # [AskedLine(1, "5", …)]

Covered: English sentences and lists; paths behind a verb of writing, numbers behind a word that
bounds them. Blocks of code are examples, and are left out.
Not covered: requirements without a number, other languages, tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from unhack.core.lines import BoundedPattern

_PATH = BoundedPattern(r"(?<![\w/.<>$])/[\w.@+-]{1,80}(?:/[\w.@+-]{1,80}){1,8}")
_WRITES = BoundedPattern(
    r"(?i)\b(?:sav(?:e|ed|ing)|writ(?:e|es|ten|ing)|creat(?:e|es|ed|ing)|stor(?:e|ed)|produc(?:e|es)"
    r"|generat(?:e|es)|export|deliver|output|deliverables?|place|put)\b"
)
_READS = BoundedPattern(
    r"(?i)\b(?:from|reads?|given|input|located|provided|found|existing|available|contains?|match\w*)\b"
)
_BOUND = BoundedPattern(
    r"(?i)(?:\b(?:at least|at most|no (?:more|less|fewer) than|(?:less|more|fewer|greater) than"
    r"|under|within|below|above|not exceed|maximum(?: of)?|minimum(?: of)?|exactly|up to|between"
    r"|limited to|allows)|[<>]=|[≤≥])\s{1,3}\*{0,2}(\d[\d,]{0,12}(?:\.\d{1,8})?)(?![\d.,]*\d|[/:])"
    r"[ -]?(%|[a-zA-Z]{1,14})?"
)
_WANTS = BoundedPattern(
    r"(?i)\b(?:must|should|shall|needs?|requir\w+|ensure|may not|allows|cannot)\b"
)
_LISTS = BoundedPattern(
    r"(?i)\b(?:must|should|requir\w+|constraints?|criteria|rules?|limits?|success\w*|performance"
    r"|output|expected|validat\w+|deliverables?|goals?)\b"
)
_NUMBER = BoundedPattern(r"\d[\d,_]{0,14}(?:\.\d{1,10})?")
_WORDS = {
    "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0, "seven": 7.0,
    "eight": 8.0, "nine": 9.0, "ten": 10.0,
}  # fmt: skip
_BYTES = (1024.0, 1024.0**2, 1024.0**3, 1e3, 1e6, 1e9)
_UNITS = (
    ("%", (0.01,)), ("percent", (0.01,)), ("ms", (0.001,)), ("milli", (0.001,)), ("min", (60.0,)),
    ("sec", (1e3, 1e6)), ("s", (1e3, 1e6)), ("hour", (60.0, 3600.0)), ("day", (24.0, 86400.0)),
    ("kb", _BYTES), ("mb", _BYTES), ("gb", _BYTES), ("tb", _BYTES), ("gib", _BYTES),
    ("mib", _BYTES),
)  # fmt: skip
"""Beginning of a unit -> factors by which tests may have it in another one."""


@dataclass(frozen=True, slots=True)
class AskedLine:
    """A path or a number, and the line that asks for it."""

    line: int
    text: str
    quote: str


def asked_files(statement: str) -> list[AskedLine]:
    """Paths with a suffix that something is to be written to; each one once."""
    found: dict[str, AskedLine] = {}
    heading = False
    for number, line in _prose(statement):
        if _is_heading(line):
            heading = _WRITES.search(line) is not None
        for match in _PATH.finditer(line):
            path = match[0].rstrip(".")
            before = line[: match.start()]
            verb = max((one.end() for one in _WRITES.finditer(before)), default=-1)
            read = max((one.end() for one in _READS.finditer(before)), default=-1)
            alone = not before.strip(" -*`0123456789.:") and heading
            if "." in path.rsplit("/", 1)[-1][1:] and (verb > read or alone):
                found.setdefault(path, AskedLine(number, path, line))
    return list(found.values())


def asked_numbers(statement: str) -> list[AskedLine]:
    """Numbers that bound something."""
    found: list[AskedLine] = []
    section = False
    for number, line in _prose(statement):
        if _is_heading(line):
            section = _LISTS.search(line) is not None
        listed = section and line.lstrip()[:1] in "-*0123456789"
        for sentence in line.split(". "):
            if listed or _WANTS.search(sentence):
                found += [
                    AskedLine(number, f"{match[1]} {match[2] or ''}".strip(), line)
                    for match in _BOUND.finditer(sentence)
                ]
    return found


def is_near(asked: str, known: frozenset[float]) -> bool:
    """True where the number is among the known ones, in its unit or in a related one."""
    number, _, unit = asked.partition(" ")
    value = float(number.replace(",", ""))
    factors = next((some for start, some in _UNITS if unit.lower().startswith(start)), ())
    return any(
        abs(value * factor - one) <= 1e-6 * max(1.0, abs(one))
        for factor in (1.0, *factors)
        for one in known
    )


def numbers_in(text: str) -> frozenset[float]:
    """All numbers of a text, small ones in words too."""
    found = {
        float(match[0].replace(",", "").replace("_", ""))
        for line in text.split("\n")
        for match in _NUMBER.finditer(line)
    }
    lower = text.lower()
    return frozenset(found | {value for word, value in _WORDS.items() if word in lower})


def _is_heading(line: str) -> bool:
    return line.rstrip(" *").endswith(":") or line.lstrip().startswith(("#", "**"))


def _prose(statement: str) -> Iterator[tuple[int, str]]:
    """Number and text of the lines outside of blocks of code."""
    fenced = False
    for number, line in enumerate(statement.split("\n"), 1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and line.strip():
            yield number, line
