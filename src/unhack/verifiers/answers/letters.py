r"""Letters of an answer that stand for those of the gold answer, and letters of choices.

    f(n)=2n+1, h^{-1}(x)=3x, y=x^2    f(t)=2t+1, y=3x, y(x)=x^2    names of functions, variables
    \sin x+C, c_1x+c_2                \sin x+k, K_1x+K_2           constants of a general solution

General solutions are told by `c_1`, `c_2`, or by one constant that is added to variables; in
`y=ce^{x}` the constant may be a capital and no other letter. A choice is `B`, `(B)`, `B.` or
`(B) 12 \text{cm}`; which letter stands for which text, the problem says and not the answers.
"""

from __future__ import annotations

import re
from dataclasses import replace

from unhack.verifiers.answers.shape import Shape
from unhack.verifiers.answers.spelling.style import same_text

_LETTER = re.compile(r"\\(?:text\{[^{}]*\}|[A-Za-z]+)|([A-Za-z])((?:_\{[^{}]*\})?'{0,9})")
_APPLIED = re.compile(r"([A-Za-z](?:_\{\w{1,9}\})?'{0,4}(?:\^\{-1\})?)\(([a-df-hj-z])\)")


def with_letters_of(gold: Shape, answer: Shape) -> Shape:
    """`answer` in the letters of `gold`, as far as they mean the same."""
    asked, told = _APPLIED.fullmatch(gold.name), _APPLIED.fullmatch(answer.name)
    known, given = (
        {(at[1], at[2]) for at in _LETTER.finditer(item.text) if at[1]} for item in (gold, answer)
    )
    same, name, letters = dict[str, str](), answer.name, dict(known).keys()
    if asked and told and asked[1] == told[1] and asked[2] in letters - dict(given).keys():
        same, name = {told[2]: asked[2]}, gold.name
    elif (told and told[1] == gold.name) or (asked and name in {asked[1], "y"} - letters):
        name = gold.name
    wanted, used = ({item for item in found if item[0] in "cCkK"} for found in (known, given))
    if len(dict(wanted)) == len(dict(used)) == 1:
        [new], [old] = dict(wanted), dict(used)
        scripts = [{below for _, below in found} for found in (wanted, used)]
        if scripts[0] == scripts[1] and old in _may_stand_for(gold, new, scripts[0], dict(known)):
            same[old] = new
    text = _LETTER.sub(lambda at: same.get(at[1], at[1]) + at[2] if at[1] else at[0], answer.text)
    return replace(answer, text=text, name=name)


def _may_stand_for(gold: Shape, constant: str, scripts: set[str], known: dict[str, str]) -> str:
    """The letters that an answer may have for the constant of `gold`."""
    others = known.keys() - {constant, "e", "i"}
    if scripts != {""}:
        numbered = constant in "cC" and scripts <= {f"_{{{number}}}" for number in range(1, 10)}
        return "cCkK" if numbered and others & set("xyztuvwrs") else ""
    added = re.search(rf"\+{constant}\Z|\A{constant}[-+]", gold.text)
    if added and others <= set("xyztuvwrs") and (others or "\\theta" in gold.text):
        return "cCkK" if len(re.findall(rf"(?<![\\A-Za-z]){constant}", gold.text)) == 1 else ""
    family = gold.name.partition("(")[0] in {"y", ""} and constant in "cC" and others <= {"x", "t"}
    return constant.swapcase() if family else ""


_CHOICE = re.compile(r"\(?([A-K])(?:\)|[.:](?!\d)|\)[.:])?(?P<text>(?<=[).:]).*)?", re.DOTALL)
_CHOSEN = re.compile(r"\(?[A-J]\)?")
_DOTTED = re.compile(r"\A([A-J])\.(?=\d)")
_OTHER_CHOICE = re.compile(r"\([A-J]\)|(?<![A-Za-z])[A-J][).](?!\d)|[},;/]\(?[A-HJ](?![A-Za-z])")


def same_choice(gold: str, answer: str) -> bool | None:
    """True where both choose one letter, alone or with its text; None where either is no choice."""
    if _CHOSEN.fullmatch(gold):  # then `A. 1/6` is no number
        answer = _DOTTED.sub(r"\1) ", answer)
    chosen, given = _CHOICE.fullmatch(gold), _CHOICE.fullmatch(answer)
    if chosen is None or given is None or not (chosen["text"] or given["text"]):
        return None
    texts = [(item["text"] or "").strip() for item in (chosen, given)]
    if chosen[1] != given[1] or _OTHER_CHOICE.search(texts[1]):
        return False
    return not all(texts) or same_text(*texts)
