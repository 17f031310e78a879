"""Values of options that several commands read.

The packages that the commands of a tournament need.
"""

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
        raise UsageError(f"--time-limit: {text!r} is not a duration, such as 90s, 10m or 1h")
    return number


def check_packages() -> None:
    """Raise UsageError at once where packages are missing that a tournament needs."""
    from unhack.core.optional_dependencies import require

    require("tournament", "numpy", "scipy", "safetensors", purpose="a tournament")
