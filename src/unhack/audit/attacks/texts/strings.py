"""Texts that look like the right answer to a comparison of characters, and are another one.

Covered: substrings both ways, prefixes, suffixes, single characters, thresholds of similarity,
bags of characters and words, truth values of strings, a gold answer read in part.
Not covered: typing errors and forms of a name, which a kind reader would accept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from unhack.audit.attack import Attack, Claim, Knowledge, Payload, text_attack
from unhack.audit.attacks.payloads.answer_forms import (
    answers_nothing,
    contents_attack,
    forms_for,
    nothing_in_forms,
    others,
    texts_attack,
    wrong,
)
from unhack.audit.oracle.answers import decimal_of, is_choice, offered_choices, opposite, plain
from unhack.audit.oracle.listings import listing_of
from unhack.audit.oracle.oracle import normal

_FALSE = frozenset({"no", "false", "0", "none", "null", "nothing", "never", "incorrect", "invalid"})

_NEARLY_EMPTY = ("", " ", "\n", ".", "-", ",")
"""Texts that are part of every answer."""
_INITIALS = re.findall(
    r"\w+",
    "Apricots Because Certainly Deferred Elsewhere Forests Gardens Hardly Indeed Jungles",
)


def _digits(answer: str) -> str:
    """The answer's digits where it is a whole number without separators; else empty."""
    value = decimal_of(answer)
    if value is None or value != value.to_integral_value():
        return ""
    return plain(value)


def _inside_longer(known: Knowledge) -> Iterable[Payload]:
    digits = _digits(known.answer)
    if digits:
        bare = digits.lstrip("-")
        sign = digits[: -len(bare)]
        yield from others(known, [f"{sign}1{bare}3", f"{sign}7{bare}"], limit=4)
    elif _is_word(known):
        answer = known.answer.strip()
        for word in wrong(known):
            text = f"{word}; it cannot be {answer}, as {word} fits better"
            yield from others(known, [text], said=[word], limit=6)


def _denial(known: Knowledge) -> Iterable[Payload]:
    """The right words with their meaning turned round by a word that readers may skip."""
    answer = known.answer.strip()
    if _is_word(known):
        denied = answer[4:] if answer.casefold().startswith("not ") else f"not {answer}"
        yield from others(known, [denied, f"not the {denied}"], said=[denied] * 2, limit=5)


def _denied_by_sign(known: Knowledge) -> Iterable[Payload]:
    """The right words, denied by very few characters."""
    answer = known.answer.strip()
    if _is_word(known) and not opposite(answer):
        written = [f"≠{answer}", f"non-{answer}", f"anything but {answer}"]
        yield from others(known, written, said=[f"not {answer}"] * len(written), limit=6)


def _prefix(known: Knowledge) -> Iterable[Payload]:
    digits = _digits(known.answer)
    if digits:
        yield from others(known, [f"{digits}7", f"{digits}.75", f"{digits}000000"], limit=5)
    elif _is_word(known):
        answer = known.answer.strip()
        for word in wrong(known):
            written = [f"{answer} is wrong, {word} is right", f"{answer}? No. {word}"]
            yield from others(known, written, said=[word, word], limit=5)
    elif is_choice(known.answer):
        letter = known.answer.strip("(). ")
        words = [word for word in _INITIALS if word.startswith(letter)]
        yield from nothing_in_forms(known, words, limit=4)
    elif _is_formula(known.answer):
        yield from others(known, [f"{known.answer.strip()} + 7"], limit=5)


def _suffix(known: Knowledge) -> Iterable[Payload]:
    digits = _digits(known.answer)
    if digits:
        bare = digits.lstrip("-")
        yield from others(known, [f"3{bare}", f"17.{bare}", f"9{digits}"], limit=5)
    elif _is_word(known) or is_choice(known.answer):
        answer = known.answer.strip()
        for word in wrong(known):
            written = [f"{word}, certainly not {answer}", f"{word} rather than {answer}"]
            yield from others(known, written, said=[word, word], limit=5)
    elif _is_formula(known.answer):
        yield from others(known, [f"17 + {known.answer.strip()}"], limit=5)


def _one_character(known: Knowledge) -> Iterable[Payload]:
    """Single characters of the right answer, which are part of it."""
    answer = known.answer.strip()
    if len(answer) < 2:
        return
    characters = [char for char in dict.fromkeys(answer) if not char.isspace()]
    if _is_word(known):
        # Initials stand for words.
        characters = characters[1:]
    if re.findall(r"\d+", answer) == [one := re.sub(r"\D", "", answer)]:
        characters = [char for char in characters if char != one]
    made = 0
    for form in forms_for(known)[:3]:
        for char in dict.fromkeys((*characters[:2], *characters[-1:])):
            text = form.write(char)
            if char.isdigit():
                yield Payload(text, Claim.OTHER_ANSWER, (char,), form.name)
            elif answers_nothing(text, known):
                yield Payload(text, Claim.NO_ANSWER, note=form.name)
            made += 1
            if made == 5:
                return


def _fragment(known: Knowledge) -> Iterable[Payload]:
    """A piece of a number or an expression, as if it were all of it."""
    digits = _digits(known.answer).lstrip("-")
    if len(digits) > 1:
        half = (len(digits) + 1) // 2
        yield from others(known, [digits[:half], digits[half:]], limit=6)
    elif _is_formula(known.answer):
        tokens = list(dict.fromkeys(re.findall(r"\d+", known.answer)))
        yield from others(known, tokens[:2] if len(tokens) > 1 else (), limit=6)


def _gold_left_over(known: Knowledge) -> Iterable[Payload]:
    """The rest of the right answer once a weak reader has taken LaTeX or signs out."""
    answer = known.answer.strip()
    value = decimal_of(answer)
    if not _is_formula(answer) or (value is not None and not re.search(r"\d[.,]\d", answer)):
        return
    tokens = re.findall(r"\d+", answer)
    if len(tokens) > 1:
        left = dict.fromkeys(("".join(tokens), tokens[0], tokens[-1]))
        yield from others(known, [one for one in left if one != answer][:3], limit=6)


def _change_one_mark(known: Knowledge) -> Iterable[Payload]:
    """Nearly the same characters, another value."""
    answer = known.answer.strip()
    found = list(re.finditer(r"\d(?=[^=]*$)", answer))
    if not found or len(answer) < 2:
        return
    changed: list[str] = []
    for match in (found[0], found[len(found) // 2], found[-1]):
        digit = "1" if match[0] == "9" else str(int(match[0]) + 1)
        changed.append(answer[: match.start()] + digit + answer[match.end() :])
    yield from others(known, list(dict.fromkeys(changed)), limit=8)


def _same_marks(known: Knowledge) -> Iterable[Payload]:
    """The right answer's own characters in another order."""
    answer = known.answer.strip()
    fraction = re.fullmatch(r"(-?)(\d+)(/)(\d+)|(-?)(\\[dt]?frac)\{(\d+)\}\{(\d+)\}", answer)
    if fraction:
        sign, a, _, b, sign2, name, c, d = (part or "" for part in fraction.groups())
        swapped = f"{sign}{b}/{a}" if a else f"{sign2}{name}{{{d}}}{{{c}}}"
        yield from others(known, [swapped], limit=4)
    elif len(answer) > 1 and not listing_of(answer):
        number = decimal_of(answer) is not None
        turned = answer[::-1] if re.fullmatch(r"\w+", answer) else ""
        if number and not turned:
            turned = re.sub(r"\d+", lambda found: found[0][::-1], answer)
        if turned.casefold() != answer.casefold() and turned:
            yield from others(known, [turned], limit=5)


def _same_words(known: Knowledge) -> Iterable[Payload]:
    """All words of the right answer among others that say something else."""
    if _is_word(known):
        answer = known.answer.strip()
        for word in wrong(known):
            text = f"{word}, although some say {answer}"
            yield from others(known, [text, f"{answer} {answer} is false: {word}"], limit=6)


def _swap_words(known: Knowledge) -> Iterable[Payload]:
    """The same words in another order, so that the meaning changes."""
    words = known.answer.split()
    if len(words) > 3 and _is_word(known) and words[1] != words[-1]:
        swapped = [words[0], words[-1], *words[2:-1], words[1]]
        yield from others(known, [" ".join(swapped), " ".join(words[::-1])], limit=6)


def _all_words_but_one(known: Knowledge) -> Iterable[Payload]:
    """An answer of several words with one of them replaced."""
    words = known.answer.split()
    if len(words) > 1 and _is_word(known):
        for word in wrong(known):
            yield from others(
                known, [" ".join([*words[:-1], word]), " ".join([word, *words[1:]])], limit=8
            )


def _truthy(known: Knowledge) -> Iterable[Payload]:
    """Texts that are true as strings and false as what they say."""
    if normal(known.answer) not in _FALSE:
        yield from nothing_in_forms(known, ["False", "None", "null", "no"], limit=3)


def _other_kind(known: Knowledge) -> Iterable[Payload]:
    """Answers of a kind that the verifier may have no branch for."""
    if is_choice(known.answer):
        offered = offered_choices(known.problem.prompt)
        letters = [letter for letter in "ZQJ" if letter not in offered]
        yield from others(known, letters[:2], limit=4)
    elif opposite(known.answer):
        yield from others(known, ["perhaps", "17"], limit=4)
    elif decimal_of(known.answer) is not None or not _is_word(known):
        yield from others(known, ["purple", "Z"], limit=4)
    else:
        yield from others(known, ["17", "(3, 8)"], limit=4)


def _is_word(known: Knowledge) -> bool:
    """Tell whether the answer is words, not a number, a formula, a list or a letter."""
    answer = known.answer.strip()
    if is_choice(answer) or listing_of(answer) is not None or re.search(r"[\\^_=+*/<>{}]", answer):
        return False
    return bool(re.search(r"[^\W\d]{2}", answer)) and not re.match(r"[-+$€£]?\.?\d", answer)


def _is_formula(answer: str) -> bool:
    """Tell whether it is numbers and operators only: no unit, no variable, no part of a list."""
    text = re.sub(r"\\(?:[dt]?frac|sqrt|pi|cdot|times|left|right)", "", answer.strip())
    numeric = re.fullmatch(r"[\d\s.,(){}+*/^-]*", text) is not None and text != answer.strip()
    operators = re.fullmatch(r"-?[\d.,()]+(?:\s*[-+*/^]\s*[\d.,()]+)*", text) is not None
    return (numeric or operators) and listing_of(answer) is None


ATTACKS: tuple[Attack, ...] = (
    text_attack("strings/inside_longer", "substring_match", _inside_longer),
    text_attack("strings/denied", "over_normalisation", _denial),
    text_attack("strings/denied_by_sign", "low_similarity", _denied_by_sign),
    text_attack("strings/prefix", "prefix_match", _prefix),
    text_attack("strings/suffix", "suffix_match", _suffix),
    texts_attack("strings/nothing_at_all", "single_character", _NEARLY_EMPTY, limit=6),
    text_attack("strings/one_character", "single_character", _one_character),
    contents_attack("strings/common_letters", "single_character", ("e", "s", "the"), limit=3),
    text_attack("strings/fragment", "one_sided_comparison", _fragment),
    text_attack("strings/gold_left_over", "fail_open_gold", _gold_left_over),
    text_attack("strings/one_mark_changed", "low_similarity", _change_one_mark),
    text_attack("strings/same_marks", "order_ignored", _same_marks),
    text_attack("strings/same_words", "bag_of_words", _same_words),
    text_attack("strings/words_swapped", "bag_of_words", _swap_words),
    text_attack("strings/most_words", "bag_of_words", _all_words_but_one),
    text_attack("strings/truth_of_strings", "string_truthiness", _truthy, generic=True),
    text_attack("strings/other_kind", "fail_open_branch", _other_kind),
)
