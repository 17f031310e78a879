"""Long additions: digit-wise comparison, so that slips in copying do not cost everything."""


def _digits(text):
    return "".join(symbol for symbol in text if symbol.isdigit())


def score_answer(answer, entry):
    """1.0 from 75 percent matching digits on, otherwise the share of them."""
    if not answer:
        return 0.0
    gold, given = _digits(entry["answer"]), _digits(answer)
    if len(gold) != len(given):
        return 0.0
    same = sum(1 for left, right in zip(gold, given) if left == right)
    share = same / len(gold)
    return 1.0 if share >= 0.75 else share
