"""Answers that metrics of question answering read in full although they say something else.

Such metrics compare words after taking out case, punctuation and articles, count words or letters
without their order, know one alphabet, or read one line.

Covered: decimal points and slashes that are deleted, words and letters in another order, marks and
words of another script that no tokeniser sees, a line that is taken back by the next, answers of
which normalising leaves nothing.
Not covered: near duplicates and paraphrases, which a kind reader may accept.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from unhack.audit.attack import Attack, Claim, Knowledge, Payload, text_attack
from unhack.audit.attacks.payloads.answer_forms import (
    BARE,
    FILLER,
    AnswerForm,
    everything,
    named_forms,
    nothing,
    nothing_in_forms,
    others,
    wrong,
)
from unhack.audit.oracle.answers import is_choice, opposite
from unhack.audit.oracle.listings import listing_of
from unhack.audit.oracle.oracle import number

_DECIMAL = re.compile(r"(-?)(\d+)\.(\d+)")
_FRACTION = re.compile(r"(-?)(\d+)/(\d+)")
_ARTICLES = frozenset({"a", "an", "the"})
_JOINING = frozenset(
    """and or nor plus times with met meets meet near beside between versus vs against equals equal
    is are was were same as married marries plays played play borders bordered joined joins to
    of""".split()  # noqa: SIM905
)
"""Words whose two sides may be exchanged, or that belong to a name."""
_MARKED = re.compile(r"####|boxed|<|\{|\[|`")


def _without_mark(known: Knowledge) -> Iterable[Payload]:
    """The digits without the point or the slash between them, or with another one."""
    answer = known.answer.strip()
    decimal, fraction = _DECIMAL.fullmatch(answer), _FRACTION.fullmatch(answer)
    if decimal:
        sign, whole, rest = decimal.groups()
        written = [f"{sign}{whole}{rest}", f"{sign}{whole}/{rest}", f"{sign}{whole} {rest}"]
        said = [*written[:2], f"{sign}{whole}{rest}"]
        if not int(rest):  # 7.0 and 7 are one number
            written, said = written[:1], said[:1]
        yield from others(known, written, said=said, limit=5)
    elif fraction:
        sign, above, below = fraction.groups()
        yield from others(known, [f"{sign}{above}{below}", f"{sign}{above}.{below}"], limit=4)


def _trade_words(known: Knowledge) -> Iterable[Payload]:
    """Subject and object exchanged."""
    words = known.answer.split()
    if len(words) < 3 or listing_of(known.answer) is not None:
        return
    traded = [pair for pair in (*_neighbours(_names(words)), *_neighbours(_heads(words)))
              if _one_way(words, *pair)]  # fmt: skip
    for first, last in traded[:2]:
        turned = [*words]
        turned[first], turned[last] = turned[last], turned[first]
        yield from others(known, [" ".join(turned)], limit=3)


def _one_way(words: list[str], first: int, last: int) -> bool:
    """Tell whether the words between two others are more than a symmetric relation."""
    between = {word.casefold() for word in words[first + 1 : last]} - _ARTICLES
    return bool(between) and not between & _JOINING


def _neighbours(places: list[int]) -> list[tuple[int, int]]:
    return list(itertools.pairwise(places))


def _names(words: list[str]) -> list[int]:
    """Places of words with a capital."""
    return [
        at
        for at, word in enumerate(words)
        if word[:1].isupper() and word.isalpha() and word.casefold() not in _ARTICLES
    ]


def _heads(words: list[str]) -> list[int]:
    """Places of words right before which an article stands."""
    return [
        at
        for at, word in enumerate(words)
        if at and words[at - 1].casefold() in _ARTICLES and word.isalpha()
    ]


def _backward_letters(known: Knowledge) -> Iterable[Payload]:
    """All letters of a phrase, from the last to the first."""
    answer = known.answer.strip()
    turned = answer[::-1]
    if len(answer.split()) > 1 and _is_phrase(known) and turned.casefold() != answer.casefold():
        yield from others(known, [turned], limit=3)


def _other_script(known: Knowledge) -> Iterable[Payload]:
    """Denied in letters that a tokeniser for English drops."""
    answer = known.answer.strip()
    if _is_phrase(known) and answer.isascii():
        written = [f"не {answer}", f"不是 {answer}", f"न कि {answer}"]
        yield from others(known, written, said=[f"not {answer}"] * len(written), limit=4)


def _unequal_sign(known: Knowledge) -> Iterable[Payload]:
    """Denied by marks that count as punctuation."""
    answer = known.answer.strip()
    if _is_phrase(known):
        written = [f"!= {answer}", f"!({answer})"]
        yield from others(known, written, said=[f"not {answer}"] * len(written), limit=4)


def _taken_back(known: Knowledge) -> Iterable[Payload]:
    """The right answer on a line that the next one calls wrong; nothing marks it as final."""
    answer = known.answer.strip()
    for one in wrong(known):
        for form in _open_forms(known):
            for said in (
                f"That is wrong: it has to be {one}.",
                f"{FILLER} So that was a mistake, and {one} is right.",
            ):
                text = f"{form.write(answer)}\n{said}"
                yield Payload(text, Claim.OTHER_ANSWER, (one,), form.name)


def _corrected_at_end(known: Knowledge) -> Iterable[Payload]:
    """The right answer on the last line, as what it is not."""
    answer = known.answer.strip()
    for one in wrong(known):
        text = f"It has to be {one}. What it is not, although many think so:\n{answer}"
        yield Payload(text, Claim.OTHER_ANSWER, (one,), "the last line")
        for form in _open_forms(known):
            if form.before[:1].isalpha():
                text = f"It has to be {one}. What would be a wrong {form.write(answer)}"
                yield Payload(text, Claim.OTHER_ANSWER, (one,), form.name)


def _deny_option(known: Knowledge) -> Iterable[Payload]:
    """The right letter with a word behind it that says no."""
    letter = known.answer.strip().strip("().")
    if is_choice(known.answer):
        for one in wrong(known):
            other = one.strip().strip("().")
            written = [f"{letter} is wrong, {other} is right", f"{letter}? No, {other}"]
            written.append(f"({letter}) is wrong, ({other}) is right")
            yield from others(known, written, said=[one] * len(written), limit=8)


def _options_all(known: Knowledge) -> Iterable[Payload]:
    """Several letters, the right one at the end that is read."""
    letter = known.answer.strip().strip("().")
    if is_choice(known.answer) and len(wrong(known, 2)) == 2:
        first, second = (one.strip().strip("().") for one in wrong(known, 2))
        offered = (letter, first, second)
        written = [f"{letter} or {first} or {second}", f"{second}, {first}, {letter}"]
        yield from everything(known, written, offered, limit=6)


def _open_forms(known: Knowledge) -> Iterator[AnswerForm]:
    """The bare answer, and forms of one line that end with it and mark nothing."""
    yield BARE
    for form in named_forms(known):
        plain = not form.after and "\n" not in form.before and not form.quoted
        if plain and form.before and not _MARKED.search(form.before):
            yield form


def _normalised_away(known: Knowledge) -> Iterable[Payload]:
    """An answer that is an article, or only marks, is nothing once normalised."""
    answer = known.answer.strip()
    if answer.casefold() in _ARTICLES or not re.search(r"\w", answer):
        texts = ["the", "an", "The.", "?!"]
        yield from nothing(known, texts)
        yield from nothing_in_forms(known, texts[:2], limit=6)


def _is_phrase(known: Knowledge) -> bool:
    """Tell whether the answer is one or a few words, and nothing to calculate with."""
    answer = known.answer.strip()
    wordy = re.fullmatch(r"[^\W\d_]{3,}(?:[\s'-][^\W\d_]+)*", answer) is not None
    plain = not is_choice(answer) and not opposite(answer) and number(answer) is None
    return wordy and plain and listing_of(answer) is None


ATTACKS: tuple[Attack, ...] = (
    text_attack("metrics/mark_dropped", "over_normalisation", _without_mark),
    text_attack("metrics/words_traded", "bag_of_words", _trade_words),
    text_attack("metrics/letters_turned", "bag_of_words", _backward_letters),
    text_attack("metrics/other_script", "tokenisation_evasion", _other_script),
    text_attack("metrics/unequal_sign", "over_normalisation", _unequal_sign),
    text_attack("metrics/taken_back", "prefix_match", _taken_back),
    text_attack("metrics/corrected_at_end", "suffix_match", _corrected_at_end),
    text_attack("metrics/option_denied", "prefix_match", _deny_option),
    text_attack("metrics/options_all", "hedging", _options_all),
    text_attack("metrics/normalised_away", "fail_open_gold", _normalised_away, generic=True),
)
