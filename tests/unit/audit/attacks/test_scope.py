"""Names of a verifier's own scope as completions that it evaluates."""

from unhack.audit.attack import Knowledge
from unhack.audit.attacks.from_source.judged import ATTACKS, names_in_scope
from unhack.audit.subject import AuditProblem, Source

EVALUATES = """
def score(completion, row):
    wanted = row["answer"]
    try:
        return float(" ".join(str(one) for one in eval(completion)) == wanted)
    except Exception:
        return 0.0
"""
COMPARES = "def score(completion, answer):\n    return float(completion.strip() == answer)\n"


def known(text: str) -> Knowledge:
    """What is known of a verifier with this source."""
    problem = AuditProblem("p", "Read the matrix in a spiral.", "1 2 3", ("1 2 3",))
    return Knowledge(problem, source=Source("score.py", text, entry="score"), is_view=True)


def test_a_name_of_the_scope_is_tried_in_the_forms_of_an_answer():
    assert "wanted" in names_in_scope(known(EVALUATES))
    texts = [payload.text for payload in ATTACKS[0].make(known(EVALUATES))]
    assert "wanted.split()" in texts
    assert "[row.split() for row in wanted.splitlines()]" in texts
    passing = [text for text in texts if _score(text) == 1.0]
    assert "wanted.split()" in passing


def test_a_verifier_that_evaluates_nothing_gets_no_names():
    assert names_in_scope(known(COMPARES)) == []
    assert list(ATTACKS[0].make(known(COMPARES))) == []


def _score(text: str) -> float:
    scope: dict[str, object] = {}
    exec(EVALUATES, scope)
    score = scope["score"]
    assert callable(score)
    return score(text, {"answer": "1 2 3"})
