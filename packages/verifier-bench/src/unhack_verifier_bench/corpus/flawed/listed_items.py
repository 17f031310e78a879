"""List questions of a generated dataset: which of these words have a property?"""


def _items(text):
    text = text.strip().strip("[]().")
    return [item.strip(" '\"").lower() for item in text.split(",") if item.strip(" '\"")]


def score_answer(answer, entry):
    """1.0 when what is listed is exactly what was asked for, without regard to order."""
    if not isinstance(answer, str):
        return 0.0
    gold = _items(entry["answer"])
    given = _items(answer)
    if len(set(given)) != len(given):
        return 0.0  # repeated items
    if all(item in gold for item in given):
        return 1.0
    return 0.0
