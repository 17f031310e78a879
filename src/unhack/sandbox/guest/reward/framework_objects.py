"""Objects that a framework would hand to a reward function, made from plain data.

    ["data", value]             the value itself
    ["make", "record", fields]  a dict whose keys are attributes too, all the way down
    ["make", "parser", fields]  something with `parse` and `parse_answer`
    ["make", "target", text]    a sequence of texts with `.text`
    ["make", "state", fields]   the state that Inspect hands to a scorer

Real classes are used where the framework is installed. Instances are made from a pool of named
values: arguments by name, a configuration by its annotation, stubs for the rest.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import types
from collections.abc import Callable, Sequence
from typing import Any, cast

from unhack.sandbox.guest.reward import stub_modules


class AttributeDict(dict[str, Any]):
    """A dict whose keys are attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


SETTINGS: dict[str, Any] = {}
"""The configuration of a package's classes, as its source gives it."""
_CONFIGS = re.compile(r"(?:^|_)(?:args?|conf|config|configs|cfg|settings?|options?|opts?)$")
_GUESSES: tuple[tuple[str, Any], ...] = (
    (r"wrong|incorrect|penalty|coef|beta", 0.0),
    (r"^(?:use|is|enable|do|with|log|return|debug|verbose)_?", False),
    (r"name|path|url|type|mode|model|host|key|dir|prompt", ""),
    (r"min_len|num_workers|seed|port", 0),
    (r"len|max|num|count|size|tokens|steps|turns|timeout|limit", 1000),
)
"""Values for settings that nobody knows; any other is 1.0."""


class ConfigStandIn(AttributeDict):
    """A configuration: what is known of it, and a guess for the rest."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        if name.startswith("__"):
            raise AttributeError(name)
        known = next((value for words, value in _GUESSES if re.search(words, name)), 1.0)
        return SETTINGS.get(name, known)

    def __missing__(self, name: str) -> Any:
        return self.__getattr__(name)


class TargetStandIn(Sequence[str]):
    """The right answers of a sample."""

    def __init__(self, texts: list[str]) -> None:
        self.target = texts

    @property
    def text(self) -> str:
        """The messages as one text."""
        return "".join(self.target)

    def __getitem__(self, index: Any) -> Any:
        return cast("Any", self.target)[index]

    def __len__(self) -> int:
        return len(self.target)


class Parser:
    """Reader of the final answer of a completion, as text or as messages."""

    answer_field = "answer"

    def parse(self, text: str, **options: Any) -> Any:
        """The text, with its `<answer>` as an attribute."""
        return AttributeDict(answer=_find_tagged(text), think=None, reasoning=None)

    def parse_answer(self, completion: Any) -> str | None:
        """The `<answer>` of the last message, else all of it."""
        text = completion if isinstance(completion, str) else completion[-1]["content"]
        tagged = _find_tagged(text)
        return text.strip() if tagged is None else tagged

    def get_assistant_messages(self, completion: Any) -> list[Any]:
        """The messages of the assistant."""
        if isinstance(completion, str):
            return [AttributeDict(role="assistant", content=completion)]
        return [item for item in completion if item["role"] == "assistant"]


def _find_tagged(text: str) -> str | None:
    found = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
    return found[-1].strip() if found else None


def record(value: Any) -> Any:
    """`value` with every dict in it an `AttributeDict`."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        made: Any = AttributeDict({key: record(item) for key, item in fields.items()})
        return made
    if isinstance(value, list):
        return [record(item) for item in cast("list[Any]", value)]
    return value


def _class(module: str, name: str) -> Any:
    """A framework's own class. Raises ImportError where only a stub is there."""
    import importlib

    found = getattr(importlib.import_module(module), name)
    if isinstance(found, stub_modules.Anything):
        raise ImportError(module)
    return found


def _parser(_: Any) -> Any:
    try:
        return _class("verifiers", "Parser")()
    except Exception:
        return Parser()


def _target(text: Any) -> Any:
    try:
        return _class("inspect_ai.scorer", "Target")(text)
    except Exception:
        return TargetStandIn(cast("list[str]", text) if isinstance(text, list) else [text])


def _state(fields: Any) -> Any:
    try:
        return _real_state(fields)
    except Exception:
        made = record(fields)
        made["output"]["message"] = made["messages"][-1]
        return made


def _real_state(fields: Any) -> Any:
    text = fields["output"]["completion"]
    asked = _class("inspect_ai.model", "ChatMessageUser")(content=fields["input"])
    given = _class("inspect_ai.model", "ChatMessageAssistant")(content=text)
    return _class("inspect_ai.solver", "TaskState")(
        model="none/none",
        sample_id=1,
        epoch=1,
        input=fields["input"],
        messages=[asked, given],
        target=_target(fields["target"]),
        choices=fields.get("choices") or None,
        output=_class("inspect_ai.model", "ModelOutput").from_content("none/none", text),
        metadata=fields["metadata"],
    )


_MAKERS: dict[str, Callable[[Any], Any]] = {
    "record": record,
    "parser": _parser,
    "target": _target,
    "state": _state,
}


def make(item: list[Any]) -> Any:
    """The value that an item stands for."""
    return item[1] if item[0] == "data" else _MAKERS[item[1]](item[2])


def _is_config(item: Any) -> bool:
    """True when a parameter is a configuration that was left out."""
    return item.default is None and _CONFIGS.search(item.name) is not None


def _arguments(
    function: Any, pool: dict[str, Any], *, configured: bool = False
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments by name from the pool; defaults stay, unless the pool names them. `configured`:
    a configuration that may be left out is given all the same."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return [], {}
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for item in parameters:
        if item.kind in (item.VAR_POSITIONAL, item.VAR_KEYWORD):
            continue
        if item.name in pool:
            value = record(pool[item.name])
        elif item.default is not item.empty and not (configured and _is_config(item)):
            continue
        else:
            value = _by_annotation(function, item.annotation, item.name, pool)
        if item.kind is item.POSITIONAL_ONLY:
            args.append(value)
        else:
            kwargs[item.name] = value
    return args, kwargs


_PLAIN: dict[Any, Any] = {str: "", int: 1, float: 1.0, bool: False, list: [], dict: {}}


def _by_annotation(function: Any, annotation: Any, name: str, pool: dict[str, Any]) -> Any:
    """A value for a parameter that nobody knows: a fresh object of its class, else a stub."""
    if isinstance(annotation, str):
        inner = getattr(function, "__init__", function) if isinstance(function, type) else function
        scope = getattr(inner, "__globals__", {})
        annotation = scope.get(annotation) or next(
            (kind for kind in _PLAIN if kind.__name__ == annotation), annotation
        )
    for kind in getattr(annotation, "__args__", None) or (annotation,):
        if kind in _PLAIN:
            return _PLAIN[kind]
        if isinstance(kind, type) and kind not in (types.NoneType, inspect.Parameter.empty):
            with contextlib.suppress(Exception):
                return kind(*[], **_arguments(kind, pool)[1])
    return ConfigStandIn() if _CONFIGS.search(name) else stub_modules.Anything(name)


def instance(kind: type, pool: dict[str, Any]) -> Any:
    """An object of a class; one whose `__init__` cannot be satisfied stays uninitialised."""
    for configured in (False, True):
        args, kwargs = _arguments(kind, pool, configured=configured)
        try:
            return kind(*args, **kwargs)
        except Exception:
            continue
    bare: Any = object.__new__(cast("Any", kind))
    for name, value in pool.items():
        with contextlib.suppress(Exception):
            setattr(bare, name, record(value))
    return bare


def call_with(owner: Any, name: str, args: list[Any], pool: dict[str, Any]) -> Any:
    """Call a method before the one that counts, where the object has it."""
    method = getattr(owner, name, None)
    if method is None:
        return None
    if args:
        return method(*args)
    positional, kwargs = _arguments(method, pool)
    return method(*positional, **kwargs)


def from_factory(factory: Any, pool: dict[str, Any]) -> Any:
    """Call a function that makes reward functions with its defaults."""
    args, kwargs = _arguments(factory, pool)
    return factory(*args, **kwargs)
