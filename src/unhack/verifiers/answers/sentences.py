r"""The answer that a sentence of plain words gives.

    the net charge is +3, there are 42 ways                  +3, 42 \text{ways}
    2x = 10, so x = 5;  12 x 7 = 84. So it costs 84 dollars   x = 5, it costs 84 dollars
    7 crates of 12, in total **84**                           84
    It is 3, which is choice (B).                             B
    No, there are none.                                       no

A conclusion is taken only from what leads to it: an equation in the letter that it solves, or
working that ends in the same number. `5, so 6`, `3 or 5, so 5` and `x = 5, so x = 6` give two
answers, and are judged whole, which earns nothing; so are denials, doubts and conditions.

Covered: lines of at most `MAX_SENTENCE` characters, by bounded patterns.
Not covered: what the subject of a sentence is: `the perimeter is 6` says 6.
"""

from __future__ import annotations

import re

from unhack.core.lines import BoundedPattern

MAX_SENTENCE = 200

DENIED = BoundedPattern(
    r"\b(?:not?|nor|never|none|nobody|nothing|cannot|n?either|or|if|unless|whether|than|but|except"
    r"|(?<!the )(?:false|wrong|incorrect)\w*|(?:wrong|incorrect) (?:answer|value|result)|untrue"
    r"|mistake\w*|eliminat\w+|exclud\w+|doubt\w*|unclear|unknown|unsure|maybe|perhaps|possibly"
    r"|suppos\w+|otherwise|instead|before|after|opposite|negat\w+|until|without|hardly|impossible"
    r"|unlikely|reject\w*|discard\w*|ignor\w+|rather|contradict\w*|alternativ\w+|vs|versus)\b"
    r"|n['\u2019]t\b",
    re.IGNORECASE,
)
"""Words with which a sentence takes back, compares or leaves open what it says."""

_VERB = (
    r"(?:is|are|was|were|equals|costs?|has|have|had|gets?|got|takes?|took|measures?|pays?|paid|needs?"
    r"|makes?|made|totals|earns?|spends?|spent|weighs?|lasts?)"
)
_LEAD_IN = BoundedPattern(
    r"(?=[A-Za-z]{2})((?:[A-Za-z(][A-Za-z\d()'\u2019-]{0,19},? {1,3}){1,12}?)"
    rf"{_VERB}(?: (?:the (?:line|point|set|interval|number|solution)|exactly|precisely|just"
    r"|a total of))?:?"
    r" {1,3}(?=[-+$£€¥\\(\[{\d.]|[A-Za-z] ?=)"
)


def without_lead(text: str) -> str:
    """The value that a sentence states, without the words before it; any other text as it is."""
    lead = _LEAD_IN.match(text)
    return text if lead is None or DENIED.search(lead[1]) else text[lead.end() :]


_SO = BoundedPattern(
    r"(?:[,;.] {1,3}(?:and {1,3}|so {1,3})?(?:so|thus|hence|therefore)"
    r"|(?<=[^\s,]) {1,3}therefore),? {1,3}",
    re.IGNORECASE,
)
_TURNED = BoundedPattern(r"([^ ].{0,80}?) is (?:the|my) (?:final |correct |right )?answer\.?\Z")
_WE_HAVE = BoundedPattern(r"(?:we {1,3}(?:have|get|know)|since|as|because|given|from) {1,3}", re.I)
_SOLVED = BoundedPattern(r"([A-Za-z]) ?(?:=|\bis|\bequals) ?(?=[^=]{1,60}\Z)")
_NUMBER = BoundedPattern(r"\d[\d.,/]*")
_SIDES = BoundedPattern(r"[^=,;]{1,200}")


def conclusion(line: str) -> str:
    """The statement in which the working of a line ends, or its last words in bold type; any other
    line as it is."""
    if len(line) > MAX_SENTENCE or DENIED.search(line):
        return line
    bold = _BOLD.match(line)
    if bold and _leads_to(bold[1]):
        return bold[2]
    turned = _TURNED.match(line)
    if turned:
        return turned[1]
    marks = list(_SO.finditer(line))
    if not marks:
        return line
    said = line[marks[-1].end() :]
    starts = (0, *(mark.end() for mark in marks))
    working = [line[start : mark.start()] for start, mark in zip(starts, marks, strict=False)]
    return said if _ends_in(working, said) or _is_solved(working, said) else line


def _ends_in(working: list[str], said: str) -> bool:
    """True where both state one number last, `3 + 4 = 7` and `it is 7 cm`, and no other."""
    numbers = [_NUMBER.findall(text) for text in (working[-1], said)]
    ends = [found[-1].rstrip(".,") for found in numbers if found]
    same = len(numbers[1]) == 1 and len(ends) == 2 and ends[0] == ends[1]
    return same and _leads_to(". ".join(working)) and _STATES.search(working[-1]) is not None


def _is_solved(working: list[str], said: str) -> bool:
    """True where each piece of working is an equation in the letter that `said` gives a value, and
    none gives it another one."""
    solved = _SOLVED.match(said)
    if solved is None:
        return False
    openings = [(_WE_HAVE.match(piece), piece) for piece in working]
    for piece in (piece[at.end() :] if at else piece for at, piece in openings):
        sides = [side.strip(" $") for side in _SIDES.findall(piece)]
        told = {*_STATES.findall(piece)}
        if told != {"="} or solved[1] not in piece or solved[1] in sides:
            return False
    return True


_STATES = BoundedPattern(rf"\b{_VERB}\b|=", re.IGNORECASE)
_COMPUTES = BoundedPattern(
    r"[^=]{0,160}\d ?(?:[-+*/\u00d7\u00b7\u00f7^x]|\\(?:cdot|times)) ?[^=]{1,160}="
)
_PIECES = BoundedPattern(r"(?:[^.,;:]|[.,;:](?! )){1,200}")
_WORD = BoundedPattern(r"[A-Za-z]{2}")


def _leads_to(before: str) -> bool:
    """True where the words before a value state no other one: `3 + 4 = 7 pens, in total`."""
    *others, last = [piece.strip() for piece in _PIECES.findall(before.rstrip(" :,"))] or [""]
    opening = _WE_HAVE.match(last)
    told = [item.lower() for item in _STATES.findall(last[opening.end() :] if opening else last)]
    one = len(told) < 2 or ({*told} == {"="} and " and " not in last)
    return one and all(
        _COMPUTES.match(piece) or (_WORD.search(piece) and not _STATES.search(piece))
        for piece in others
    )


_BOLD = BoundedPattern(
    rf"([^*]{{1,160}}(?:\b{_VERB}|[=:]|\b(?:total|namely|therefore|thus|hence)|i\.e\.),? ?)"
    r"\*\*([^*]{1,60})\*\*\.?\Z"
)

_NAMES_CHOICE = BoundedPattern(
    r"\b(?i:option|choice)(?: is|:)? ?(?:\*\*|\$)?\(?([A-K])\)?(?:\*\*|\$)?"
    r"(?=\Z|[.,:;](?: |\Z)| is (?:correct|right|true|the (?:correct |right )?answer)\b"
    r"| (?:since |because |as |for |[$\\(\d]))"
    r"|(?<![A-Za-z])\(?([A-K])\)? is (?:correct|right|the answer)\b"
)
_LETTER = BoundedPattern(
    r"(?<![A-Za-z\\])(?:[B-HJK](?![A-Za-z'\u2019])|A(?![A-Za-z'\u2019]| [a-z]))"
)
_UNDECIDED = BoundedPattern(
    r"\b(?:options|choices|both|close|tempting|trap|worst|rul(?:e|ed|ing) out|looks?|seems?)\b",
    re.IGNORECASE,
)


def named_choice(gold: str, answer: str) -> str:
    """`D` of a sentence that names option D and no other; any other answer as it is."""
    bare = gold.strip("$() ")
    if len(bare) != 1 or bare not in "ABCDEFGHIJK" or len(answer) > MAX_SENTENCE:
        return answer
    named = {found[1] or found[2] for found in _NAMES_CHOICE.finditer(answer)}
    undecided = DENIED.search(answer) or _UNDECIDED.search(answer)
    if len(named) != 1 or {*_LETTER.findall(answer)} - named or undecided:
        return answer
    return named.pop()


_YES_NO = BoundedPattern(
    r"(?:\\text(?:bf)?\{)?(yes|no)\}?(?:[.,;:!]([^\d$\\=<>]{0,200}))?\Z", re.IGNORECASE
)
_TAKEN_BACK = BoundedPattern(
    r"\b(?:yes|no|but|if|unless|or|maybe|perhaps|possibly|sometimes|only|otherwise|however|wait"
    r"|actually|except|might|may|could|depends|unsure)\b",
    re.IGNORECASE,
)


def same_word(gold: str, answer: str) -> bool | None:
    """True where both say yes, or both no, in whatever words behind it; None for other answers."""
    said = [_YES_NO.match(text.strip().strip("*$ ")[:300]) for text in (gold, answer)]
    if not said[0] or not said[1]:
        return None
    told, behind = said[1][1].lower(), said[1][2] or ""
    denied = told == "yes" and DENIED.search(behind)
    if denied or _TAKEN_BACK.search(behind):
        return None
    return said[0][1].lower() == told
