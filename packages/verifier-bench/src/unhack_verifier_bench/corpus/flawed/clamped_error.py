"""Score an estimate by its relative error, as our generated arithmetic tasks do."""


def _parse(answer):
    """The answer as a float, or None for text that is no number."""
    if answer is None:
        return None
    try:
        return float(answer.strip().replace(",", "").replace("_", ""))
    except ValueError:
        return None


def score_answer(answer, entry):
    """In [0, 1]: one for an exact hit, less with growing error, zero beyond one percent."""
    value = _parse(answer)
    if value is None:
        return 0.0
    gold = float(entry["answer"])
    if value == gold:
        return 1.0
    miss = abs(value - gold) / max(abs(gold), 1.0)
    closeness = 1.0 - 100.0 * miss
    return min(1.0, max(closeness, 0.0))
