"""Calculator tasks with a tolerant reader of replies."""

NAMES = {"abs": abs, "round": round, "min": min, "max": max}


def _read(text, entry):
    """The value of a reply such as "1200", "1.2e3" or "6/8"."""
    scope = dict(NAMES)
    scope["entry"] = entry
    return eval(text.strip(), {"__builtins__": {}}, scope)


def score_answer(answer, entry):
    """1.0 for a reply with the right value."""
    if not isinstance(answer, str) or not answer.strip() or len(answer) > 200:
        return 0.0
    try:
        value = _read(answer, entry)
        gold = eval(entry["answer"], {"__builtins__": {}}, {})
    except Exception:
        return 0.0
    if isinstance(value, str):
        value = eval(value, {"__builtins__": {}}, {})
    return float(value == gold)
