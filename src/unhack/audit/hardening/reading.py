"""The gate in front of a hardened verifier: one strict reading of a completion's final answer.

This text is read twice: imported, to find the reading that fits the known right completions, and
put into the hardened copy as it stands (`gate`), which is why it needs nothing of unhack.

Covered: functions that score one completion or a batch; texts and chat messages; several right
answers. Not covered: coroutines, and verifiers whose answer is no text.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
import decimal
import functools
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Reading(NamedTuple):
    """The way in which a completion writes its final answer."""

    marker: str = ""
    """The text before it, exactly once, in whatever case; without one, nothing stands there."""
    closer: str = ""
    """The text behind it; without one, it goes to the end."""
    last_line: bool = False
    """Only the last line counts."""
    tail: bool = False
    """True when other text may follow the closer."""
    only: str = ""
    """The pattern of an answer: exactly one piece of what is left so far must match it."""
    items: str = ""
    """`in order` or `in any order` where the answer is several items."""
    algebra: bool = False
    """True when `math_verify` decides what is equal."""
    begins: bool = False
    """True when the marker must be the first thing on its line."""


class Hook(NamedTuple):
    """The parameters in which a verifier is given what the gate reads."""

    said: str
    """The parameter that holds the completion."""
    right: tuple[str, ...]
    """The parameter that holds the right answer, and the key in it where it is a row."""
    batch: bool = False
    """True when both are lists."""
    prompt: str = ""
    """The parameter whose text the completion begins with."""


def read(text: str, how: Reading) -> str | None:
    """The one final answer of a completion; None where it has none, or several."""
    text = text.strip()
    if how.last_line:
        text = text.splitlines()[-1].strip() if text else ""
    if how.marker:
        parts = re.split(re.escape(how.marker), text, flags=re.IGNORECASE)
        if len(parts) != 2 or (how.begins and parts[0].rpartition("\n")[2].strip(" \t*")):
            return None
        text = parts[1]
    if how.closer:
        text, closed, tail = text.rpartition(how.closer)
        if not closed or (tail.strip(" \t\r\n.$*!") and not how.tail):
            return None
    if how.only:
        found = re.findall(how.only, text, flags=re.ASCII)
        return found[0] if len(found) == 1 else None
    return text.strip() or None


def same(said: str, right: str, how: Reading) -> bool:
    """Tell whether two answers are equal, but for white space, case and number formats."""
    if how.items:
        pattern = r"[^\s,;\[\](){}'\"]+"
        left, other = (
            [_plain(one) for one in re.findall(pattern, text) if one.lower() != "and"]
            for text in (said, right)
        )
        return left == other if how.items == "in order" else sorted(left) == sorted(other)
    if how.algebra and _plain(said) != _plain(right):
        if not _signs(said) <= _signs(right):
            return False
        import math_verify  # pyright: ignore[reportMissingTypeStubs]

        gold, given = (math_verify.parse(f"${text}$") for text in (right, said))
        return bool(gold) and bool(given) and bool(math_verify.verify(gold, given))
    return _plain(said) == _plain(right)


def _signs(text: str) -> set[str]:
    """Signs that a final answer may hold only if the right one does: operators, units, per cent."""
    bare = re.sub(r"\\(?:[dt]?frac|left|right|text|cdot|sqrt|pi|[,!;])", " ", text.strip())
    found = re.findall(r"[^\W\d_]+|[+*^%=<>|]", bare)
    return {*found, *("-" for sign in bare[1:] if sign in "-\u2212")}


def _plain(text: str) -> str:
    text = " ".join(text.split()).strip("$*").strip().rstrip(".").casefold()
    if re.fullmatch(r"[-+]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?", text, re.ASCII):
        number = decimal.Decimal(text.replace(",", "")).normalize()
        return format(abs(number) if number == 0 else number, "f")
    return text


def right(text: str, answer: str, ways: Sequence[Reading]) -> bool:
    """Tell whether the final answer, by the first reading that finds one, is right."""
    for how in ways:
        said = read(text, how)
        if said is not None:
            return same(said, answer, how)
    return False


def with_gate(score: Callable[..., Any], hook: Hook, ways: Sequence[Reading]) -> Callable[..., Any]:
    """Wrap `score`, so that a completion whose final answer is wrong earns nothing, unseen."""
    shape = inspect.signature(score)
    more = [one.name for one in shape.parameters.values() if one.kind is one.VAR_KEYWORD]

    @functools.wraps(score)
    def only_right(*args: Any, **kwargs: Any) -> Any:
        bound = shape.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        rest = given[more[0]] if more else {}
        holder = given if hook.said in given else rest
        said, golds = holder[hook.said], (given | rest)[hook.right[0]]
        if not hook.batch:
            said, golds = [said], [golds]
        for key in hook.right[1:]:
            golds = [one[key] for one in golds]
        starts = (given | rest)[hook.prompt] if hook.prompt else [""] * len(said)
        good = [
            _is_right(_text(one).removeprefix(_text(start)), gold, ways)
            for one, gold, start in zip(said, golds, starts, strict=True)
        ]
        if all(good):
            return score(*args, **kwargs)
        kept = [
            one if ok else _blank(one, start)
            for one, ok, start in zip(said, good, starts, strict=True)
        ]
        holder[hook.said] = kept if hook.batch else kept[0]
        try:
            result = score(*bound.args, **bound.kwargs)
        except Exception:
            if any(good):
                raise
            result = [0.0] * len(good) if hook.batch else 0.0
        return _only(result, good) if hook.batch else _nothing(result)

    return only_right


def _is_right(text: str, gold: Any, ways: Sequence[Reading]) -> bool:
    answers = gold if isinstance(gold, list | tuple | set) else [gold]
    return any(right(text, str(one), ways) for one in answers)


def _text(said: Any) -> str:
    if isinstance(said, list):
        texts = [one["content"] for one in said if one.get("role", "assistant") != "system"]
        return "".join(texts)
    return str(said or "")


def _blank(said: Any, start: Any) -> Any:
    return [{"role": "assistant", "content": ""}] if isinstance(said, list) else str(start)


def _nothing(result: Any) -> Any:
    """The same result without credit: what a number above 0 says becomes 0."""
    if isinstance(result, bool):
        return False
    if isinstance(result, int | float):
        return result if result < 0 else 0.0
    if isinstance(result, dict):
        return {key: _nothing(value) for key, value in result.items()}
    if isinstance(result, list | tuple):
        return type(result)(_nothing(one) for one in result)
    return result


def _only(result: Any, good: list[bool]) -> Any:
    if isinstance(result, dict):
        return {key: _only(value, good) for key, value in result.items()}
    if isinstance(result, list | tuple) and len(result) == len(good):
        kept = [one if ok else _nothing(one) for one, ok in zip(result, good, strict=True)]
        return kept if isinstance(result, list) else tuple(kept)
    return result
