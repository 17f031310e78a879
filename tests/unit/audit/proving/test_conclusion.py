"""Verifiers that hang are called so, whatever else there is to say."""

import math
import time
from pathlib import Path

import pytest
from tests.unit.audit.company import ROWS, text_subject

from unhack.audit.options import AuditOptions
from unhack.audit.report.report import Conclusion
from unhack.audit.runner import audit
from unhack.core.errors import UsageError
from unhack.sandbox.deadline import DeadlineBackend
from unhack.sandbox.pool.pool import Pool

_ALWAYS = "import time\n\ndef reward(completion, answer):\n    time.sleep(15)\n"
_ON_NUMBERS = """\
import time

def reward(completion, answer):
    if completion == "The answer is " + answer:
        return 1.0
    while any(map(str.isdigit, completion)):
        time.sleep(0.1)
    return 0.0
"""


@pytest.mark.slow
def test_a_verifier_that_hangs_on_right_completions_is_undecided_and_called_so(
    tmp_path: Path, pool: Pool
) -> None:
    timed = DeadlineBackend(pool, until=math.inf)
    subject = text_subject(tmp_path, timed, _ALWAYS, rows=ROWS)  # pyright: ignore[reportArgumentType]
    with timed.within(time.monotonic() + 10):
        report = audit(subject, options=AuditOptions(seconds=4), backend=pool)
    assert report.conclusion is Conclusion.UNPROVEN
    assert report.why.startswith("the verifier hangs")


@pytest.mark.slow
def test_a_verifier_that_hangs_on_what_attacks_say_is_not_called_sound(
    tmp_path: Path, pool: Pool
) -> None:
    subject = text_subject(tmp_path, pool, _ON_NUMBERS, rows=ROWS)
    report = audit(subject, options=AuditOptions(seconds=30), backend=pool)
    assert report.conclusion is Conclusion.UNPROVEN
    assert report.why.startswith("the verifier hangs")
    assert "timed out" in report.why


@pytest.mark.slow
def test_an_import_that_the_deadline_cuts_off_is_said_to_wait(tmp_path: Path, pool: Pool) -> None:
    source = "import time\ntime.sleep(60)\n\ndef reward(completion, answer):\n    return 0.0\n"
    timed = DeadlineBackend(pool, until=time.monotonic() + 2)
    with pytest.raises(UsageError, match=r"import did not finish within .* more time"):
        text_subject(tmp_path, timed, source, rows=ROWS)  # pyright: ignore[reportArgumentType]
