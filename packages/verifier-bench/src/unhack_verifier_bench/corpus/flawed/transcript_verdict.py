"""Keep a transcript for the logs and read the verdict off it."""

import re

VERDICT = re.compile(r"^verdict:\s*(correct|incorrect)", re.IGNORECASE | re.MULTILINE)


def _judge(reply, gold):
    found = re.findall(r"-?\d+(?:\.\d+)?", reply.replace(",", ""))
    return "correct" if found and float(found[-1]) == float(gold) else "incorrect"


def _transcript(reply, gold):
    return "\n".join(
        [
            "reply:",
            reply.strip(),
            f"verdict: {_judge(reply, gold)}",
        ]
    )


def judged_reward(completion, answer):
    """1.0 for "verdict: correct"."""
    match = VERDICT.search(_transcript(completion, answer))
    if match is None:
        return 0.0
    return 1.0 if match.group(1).lower() == "correct" else 0.0
