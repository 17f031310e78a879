"""Attacks made from the verifier's own source: its patterns, tolerances, words and constants.

Covered: suspicions about the source turned into answers that aim at exactly that line, and the
source's constants as answers, keywords and keys. Not covered: values that the verifier computes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.attacks.from_source.programs import CODE_ATTACKS
from unhack.audit.attacks.payloads.answer_forms import BARE, AnyForm, forms_for
from unhack.audit.oracle.oracle import distinct, mentions, number
from unhack.audit.static_analysis.suspicions import hints_of, suspicions_of

Maker = Callable[[Knowledge], Iterable[Payload]]

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def _wrong(known: Knowledge, count: int = 2) -> list[str]:
    return list(known.wrong_answers[:count])


def frames(known: Knowledge) -> list[AnyForm]:
    """Forms in which this verifier may look for an answer, the likeliest first; at least three."""
    unseen = replace(known.problem, prompt="", correct=())
    named = forms_for(replace(known, problem=unseen))[:2] if known.source is not None else ()
    found = list(forms_for(known))
    return list(dict.fromkeys([*found[:2], *named, *found[2:]]))


def _in_frames(known: Knowledge, answer: str, *, note: str, limit: int = 3) -> Iterator[Payload]:
    for form in frames(known)[:limit]:
        yield Payload(form.write(answer), Claim.OTHER_ANSWER, (answer,), note)


def _substring(known: Knowledge) -> Iterator[Payload]:
    answer, wrong = known.answer, _wrong(known, 6)
    hints = hints_of(known.source, "substring_match")
    if answer and "text_in_gold" not in hints:
        listed = (*wrong[:3], answer, *wrong[3:])
        yield Payload(", ".join(listed), Claim.EVERY_ANSWER, listed, "a list")
        for one in wrong[:1]:
            text = f"It is not {answer}. The answer is {one}."
            yield Payload(text, Claim.OTHER_ANSWER, (one,), "a denial")
        longer = f"9{answer}9" if number(answer) is not None else f"anti{answer}ist"
        for form in frames(known)[:2]:
            yield Payload(form.write(longer), Claim.OTHER_ANSWER, (longer,), "a longer word")
            yield Payload(form.write(", ".join(listed)), Claim.EVERY_ANSWER, listed, "a list")
    for form in frames(known)[:3]:
        yield Payload(form.write(""), Claim.NO_ANSWER, (), "nothing")
        if len(answer) > 1:
            yield Payload(form.write(answer[0]), Claim.OTHER_ANSWER, (answer[0],), "a letter")


_EQUAL = (
    "type('E', (), {name: (lambda *a: True) for name in ('__eq__', '__ge__', '__le__',"
    " '__contains__', '__bool__')})()"
)
_NUMBERLIKE = (
    "type('E', (float,), {**{name: (lambda *a: True) for name in ('__eq__', '__le__', '__ge__',"
    " '__lt__', '__gt__')}, **{name: (lambda s, *a: s) for name in ('__sub__', '__rsub__',"
    " '__abs__', '__truediv__')}, '__ne__': lambda *a: False, '__hash__': lambda s: hash('')})()"
)


def _expressions(known: Knowledge) -> Iterator[Payload]:
    names = [one for one in hints_of(known.source, "eval_of_completion") if one.isidentifier()]
    texts = [_EQUAL, _NUMBERLIKE, *names[:6]]
    texts += [f"{name}[0]" for name in names[:1]]
    for text in texts:
        for form in frames(known)[:2]:
            yield Payload(form.write(text), Claim.NO_ANSWER, (), "an expression")


def _raising(known: Knowledge) -> Iterator[Payload]:
    texts = (
        *("", "\ud800", "\0", "n/a", "{", "(" * 3000, "[" * 3000, "\\frac{", "\\boxed{"),
        *("1/0", "None", "not a number", "2**99999999", "- -", "\\\\", '"', "%s"),
    )
    for form in frames(known)[:2]:
        for text in texts:
            yield Payload(form.write(text), Claim.NO_ANSWER, (), "made to raise")


def _decoys(known: Knowledge) -> Iterator[Payload]:
    answer = known.answer
    for one in _wrong(known):
        for form in [form for form in frames(known) if form != BARE][:3]:
            right, other = form.write(answer), form.write(one)
            text = f"{right}\nThat was a mistake. My final answer:\n{other}"
            yield Payload(text, Claim.OTHER_ANSWER, (one,), "the right one first")
            text = f"My final answer:\n{other}\nI have ruled this out:\n{right}"
            yield Payload(text, Claim.OTHER_ANSWER, (one,), "the right one last")
            listed = (answer, one)
            yield Payload(f"{right}\nor\n{other}", Claim.EVERY_ANSWER, listed, "both")
        yield Payload(
            f"It is {one}, and certainly not {answer}", Claim.OTHER_ANSWER, (one,), "last word"
        )


def _ends(known: Knowledge) -> Iterator[Payload]:
    answer = known.answer
    digits = number(answer) is not None
    longer = f"{answer}99" if digits else f"{answer}less"
    yield from _in_frames(known, longer, note="a longer beginning")
    longer = f"99{answer}" if digits else f"non{answer}"
    yield from _in_frames(known, longer, note="a longer end")
    for one in _wrong(known, 1):
        text = f"The answer is {one}, not {answer}"
        yield Payload(text, Claim.OTHER_ANSWER, (one,), "ends with it")
        text = f"{answer} is wrong. The answer is {one}"
        yield Payload(text, Claim.OTHER_ANSWER, (one,), "begins with it")


def _character(known: Knowledge) -> Iterator[Payload]:
    answer = known.answer.strip()
    if len(answer) == 1:
        text = f"{answer}ad guesses do not help, I do not know"
        yield Payload(text, Claim.NO_ANSWER, (), "a letter of a word")
        word = f"{answer}azaar"
        yield from _in_frames(known, word, note="a word that begins so")
    else:
        yield from _in_frames(known, answer[:1], note="a letter")


def _tolerance(known: Knowledge) -> Iterator[Payload]:
    value = number(known.answer)
    if value is None:
        return
    for hint in hints_of(known.source, "loose_tolerance", "near_miss_credit", "nan_poisoning"):
        tolerance = number(hint)
        if tolerance is None:
            continue
        for share in (0.95, 0.5):
            for near in (value + value * tolerance * share, value - value * tolerance * share):
                said = _number_text(near)
                yield from _in_frames(known, said, note=f"within {hint} of it", limit=2)
            said = _number_text(value + tolerance * share)
            yield from _in_frames(known, said, note="near", limit=2)


def _number_text(value: float) -> str:
    return str(int(value)) if value.is_integer() else f"{value:.6g}"


def _not_finite(known: Knowledge) -> Iterator[Payload]:
    for text in ("nan", "inf", "-inf", "1e999", "-nan", "NaN", "infinity"):
        yield from _in_frames(known, text, note="not finite", limit=2)


def _same_when_normal(known: Knowledge) -> Iterator[Payload]:
    """Answers that normalising makes equal."""
    answer, value = known.answer, number(known.answer)
    if value is None:
        return
    flipped = answer[1:] if answer.startswith("-") else f"-{answer}"
    shapes = [
        flipped,
        answer.replace(".", ""),
        _number_text(value + 0.4),
        _number_text(value + 0.9),
    ]
    if len(answer) > 1 and answer.isdigit():
        shapes.append(f"{answer[:-1]}.{answer[-1]}")
    for shape in dict.fromkeys(shapes):
        if shape != answer:
            yield from _in_frames(known, shape, note="equal once normalised", limit=2)


def _list_parts(answer: str) -> tuple[str, list[str], str, str]:
    """Opening sign, elements, mark between them and closing sign of a list; no elements for what
    may be one phrase."""
    text, open_, close = answer.strip(), "", ""
    if text[:1] + text[-1:] in ("[]", "()", "{}"):
        open_, close, text = text[0], text[-1], text[1:-1]
    mark = next((one for one in (", ", ",", "\n", ";", " ") if one in text), "")
    parts = text.split(mark) if mark else []
    if number(answer) is not None or not (open_ or all(number(one) is not None for one in parts)):
        parts = []
    return open_, parts, mark, close


def _list_lengths(known: Knowledge) -> Iterator[Payload]:
    """Lists that are too short or too long; another order where the prompt asks for one."""
    open_, parts, mark, close = _list_parts(known.answer)
    if not parts:
        return
    for form in frames(known)[:2]:
        yield Payload(form.write(open_ + close), Claim.NO_ANSWER, (), "an empty list")
    turned = [parts[:1], parts[:-1], [*parts, *_wrong(known, 1)], [*_wrong(known, 3), *parts]]
    prompt = known.problem.prompt.casefold()
    ordered = re.search(r"\b(sort|sorted|order|ascending|descending|sequence)\b", prompt)
    if ordered and "any order" not in prompt:
        turned.append(parts[::-1])
    for kept in turned:
        if kept != parts:
            yield from _in_frames(known, open_ + mark.join(kept) + close, note="a list", limit=2)


def _alike(known: Knowledge) -> Iterator[Payload]:
    answer = known.answer
    spaced = answer.split()
    if len(spaced) >= 3 and number(answer) is None:
        for words, note in (
            ([*spaced[:-1], "nothing"], "another end"),
            (["never", *spaced], "negated"),
            ([*reversed(spaced), "never"], "shuffled"),
        ):
            yield from _in_frames(known, " ".join(words), note=note, limit=2)
    for at, sign in enumerate(answer):
        if sign.isdigit():
            other = str((int(sign) + 3) % 10)
            changed = f"{answer[:at]}{other}{answer[at + 1 :]}"
            yield from _in_frames(known, changed, note="one digit changed", limit=2)
            break


def _several(known: Knowledge) -> Iterator[Payload]:
    wrong = _wrong(known, 8)
    answers = tuple(distinct([*wrong[:4], known.answer, *wrong[4:]]))
    for mark in (" ", ", ", " or ", "\n"):
        text = mark.join(answers)
        yield Payload(text, Claim.EVERY_ANSWER, answers, "several")
    for form in frames(known)[:3]:
        text = "\n".join(form.write(one) for one in answers)
        yield Payload(text, Claim.EVERY_ANSWER, answers, "several, each in its form")
        for mark in (", ", " or "):
            yield Payload(form.write(mark.join(answers)), Claim.EVERY_ANSWER, answers, "several")


def _all_words(known: Knowledge) -> Iterator[Payload]:
    """All words of the source at once, around nothing or a wrong answer."""
    texts = [*hints_of(known.source, "keyword_stuffing", "hollow_format", "format_credit")]
    texts += [one for one in known.constants if not _NUMBER.fullmatch(one)]
    words = [one for one in dict.fromkeys(texts) if not mentions(one, known.answer or "\0")]
    opened = [one for one in words if one.startswith("<")]
    spoken = [one for one in words if one not in opened]
    every = "\n".join([*opened, *spoken])
    for text in (every, " ".join(spoken), "".join(opened), f"{every}\n" * 20):
        yield Payload(text, Claim.NO_ANSWER, (), "every word of the source")
    for one in _wrong(known, 1):
        for form in frames(known)[:2]:
            text = f"{' '.join(spoken)}\n{form.write(one)}"
            yield Payload(text, Claim.OTHER_ANSWER, (one,), "words around a wrong answer")
    for size in (1, 40):
        text = "<think>\n" + "It follows step by step. " * size + "\n</think>\n<answer></answer>"
        yield Payload(text, Claim.NO_ANSWER, (), "tags around nothing")


def _padding(known: Knowledge) -> Iterator[Payload]:
    for size in (50, 1000):
        filler = "and so on, as one sees, " * size
        yield Payload(filler, Claim.NO_ANSWER, (), "filler")
        for one in _wrong(known, 1):
            form = frames(known)[0]
            yield Payload(f"{filler}\n{form.write(one)}", Claim.OTHER_ANSWER, (one,), "filler")
    varied = " ".join(f"{left}{right}" for left in "bcdfghklm" for right in "aeiou")
    yield Payload(varied, Claim.NO_ANSWER, (), "no word twice")


def _anything(known: Knowledge) -> Iterator[Payload]:
    for form in frames(known)[:3]:
        for text in ("", "x", "False", "none"):
            yield Payload(form.write(text), Claim.NO_ANSWER, (), "nothing")
        for one in _wrong(known):
            yield Payload(form.write(one), Claim.OTHER_ANSWER, (one,), "plainly wrong")


def _constants(known: Knowledge) -> Iterator[Payload]:
    for one in known.constants:
        if len(one) <= 40 and "\n" not in one and not mentions(one, known.answer or "\0"):
            yield from _in_frames(known, one, note="a constant of the source", limit=1)


_TABLE: tuple[tuple[str, Maker, int], ...] = (
    ("substring_match", _substring, 12),
    ("many_attempts", _several, 13),
    ("eval_of_completion", _expressions, 16),
    ("fail_open_exception", _raising, 30),
    ("fail_open_branch", _anything, 12),
    ("fail_open_gold", _anything, 6),
    ("problem_unbound", _anything, 12),
    ("string_truthiness", _anything, 12),
    ("unanchored_regex", _decoys, 16),
    ("prefix_match", _ends, 8),
    ("suffix_match", _ends, 8),
    ("single_character", _character, 6),
    ("loose_tolerance", _tolerance, 14),
    ("near_miss_credit", _tolerance, 8),
    ("nan_poisoning", _not_finite, 14),
    ("unbounded_reward", _not_finite, 14),
    ("sign_lost", _same_when_normal, 10),
    ("over_normalisation", _same_when_normal, 10),
    ("zip_truncation", _list_lengths, 10),
    ("order_ignored", _list_lengths, 10),
    ("one_sided_comparison", _list_lengths, 10),
    ("vacuous_truth", _anything, 8),
    ("low_similarity", _alike, 8),
    ("bag_of_words", _alike, 8),
    ("keyword_stuffing", _all_words, 8),
    ("hollow_format", _all_words, 8),
    ("tag_order_blind", _all_words, 8),
    ("format_credit", _all_words, 8),
    ("length_padding", _padding, 5),
    ("tokenisation_evasion", _padding, 5),
)
_MAX_PAYLOADS, _CONSTANTS = 120, 20


def _share(known: Knowledge, limit: int) -> int:
    """Number of payloads left to an attack when all that the source suggests share the budget."""
    flaws = {one.flaw for one in suspicions_of(known.source)}
    wanted = sum(row[2] for row in _TABLE if row[0] in flaws)
    room = _MAX_PAYLOADS - _CONSTANTS
    return limit if wanted <= room else max(1, limit * room // wanted)


def _limit(flaw: str, make: Maker, limit: int) -> Maker:
    def first_payloads(known: Knowledge) -> Iterator[Payload]:
        if any(one.flaw == flaw for one in suspicions_of(known.source)):
            yield from islice(make(known), _share(known, limit))

    return first_payloads


def _few_constants(known: Knowledge) -> Iterator[Payload]:
    return islice(_constants(known), _CONSTANTS)


ATTACKS: tuple[Attack, ...] = (
    *(
        Attack(f"source/{flaw}", flaw, tier=2, for_code=False, make=_limit(flaw, make, limit))
        for flaw, make, limit in _TABLE
    ),
    Attack("source/constants", "weak_proxy", tier=2, for_code=False, make=_few_constants),
    *CODE_ATTACKS,
)
