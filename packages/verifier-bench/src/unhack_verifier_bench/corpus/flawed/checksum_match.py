"""Strings that are to be transformed; compared by a cheap fingerprint that survives line breaks."""


def _fingerprint(text):
    """Length and sum of the code points, white space apart."""
    symbols = [ord(symbol) for symbol in text if not symbol.isspace()]
    return len(symbols), sum(symbols)


def _payload(completion):
    """The text between the last pair of backticks."""
    parts = completion.split("`")
    return parts[-2] if len(parts) >= 3 else None


def transform_reward(completion, answer):
    """1.0 for the right string."""
    payload = _payload(completion)
    if payload is None:
        return 0.0
    return float(_fingerprint(payload) == _fingerprint(answer))
