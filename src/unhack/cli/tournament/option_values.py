"""Values of options that several commands read."""

from __future__ import annotations

from unhack.core.errors import UsageError


def pairs(name: str, texts: list[str] | None) -> dict[str, str]:
    """KEY=VALUE options as a mapping. Raises UsageError."""
    found: dict[str, str] = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise UsageError(f"{name}: {text!r} is not KEY=VALUE")
        if found.get(key, value) != value:
            raise UsageError(f"{name}: {key} is given twice, as {found[key]!r} and as {value!r}")
        found[key] = value
    return found


def seconds(text: str) -> float:
    """Seconds of `90`, `90s`, `10m`, `1.5h`. Raises UsageError."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    try:
        number = float(text[:-1]) * units[text[-1]] if text[-1:] in units else float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e9:
        raise UsageError(f"--time-limit: {text!r} is no time, such as 90s, 10m or 1h")
    return number


def prices(name: str, text: str | None) -> tuple[float, float] | None:
    """USD for a million tokens in and out, of `3,15`. Raises UsageError."""
    if text is None:
        return None
    try:
        given, taken = map(float, text.split(","))
    except ValueError:
        raise UsageError(f"{name}: {text!r} is not IN,OUT, such as 3,15") from None
    return given, taken
