"""The labels that data flow attaches to values."""

from __future__ import annotations

from unhack.audit.static_analysis.names import BATCH, COMPLETION, GOLD, INPUT

Labels = frozenset[str]

NOTHING: Labels = frozenset()

MANY = "many"  # a list, set or iterator of values
FLOAT = "float"  # a number read from the completion, not known to be finite
LENGTH = "length"  # how long a text of the completion is
MATCH = "match"  # a match object
RESULT = "result"  # what code of the completion gave, in this process
PROCESS = "process"  # a process that runs the completion
STDOUT = "stdout"  # its output
STATUS = "status"  # its exit status
SIMILAR = "similar"  # a measure of likeness
DIFFERENCE = "difference"  # right answer minus the completion's
JUDGE = "judge"  # what a judge model said
JUDGED = "judged"  # decided by comparing the completion with the right answer
FORMED = "formed"  # decided by the completion alone
GOLD_TEST = "gold_test"  # decided by the right answer alone

VERDICTS = frozenset({JUDGED, FORMED, GOLD_TEST})
_ORIGINS = frozenset({COMPLETION, GOLD, INPUT, RESULT, STDOUT, JUDGE, SIMILAR}) | VERDICTS


def plain(labels: Labels) -> Labels:
    """Labels of a value's origin, without those of its kind."""
    return labels & _ORIGINS


def element(labels: Labels) -> Labels:
    """Labels of one element of a collection."""
    return labels - {MANY, BATCH}


def judge_labels(labels: Labels) -> Labels:
    """Labels of a verdict on values with these labels."""
    kept = labels & (VERDICTS | {STATUS, STDOUT, SIMILAR, BATCH})
    if {COMPLETION, GOLD} <= labels or labels & {SIMILAR, DIFFERENCE}:
        return kept | {JUDGED}
    if labels & {COMPLETION, LENGTH}:
        return kept | {FORMED}
    return kept | {GOLD_TEST} if GOLD in labels else kept
