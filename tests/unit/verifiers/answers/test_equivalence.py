"""Mathematical equality: by numerals on the host, by two judges' jobs for everything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core.problem import Problem
from unhack.core.verdict import Seal, Status, Verdict
from unhack.sandbox.job import Job, Role
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.task import Task
from unhack.verifiers.answers.equivalence import MAX_MATH_CHARS, Judgement, Rules, judge_math
from unhack.verifiers.text import AnswerCheck, Several, TextVerifier

RULES = Rules()
LIMITS = Limits(wall_s=5.0, cpu_s=5.0)
Scoring = Callable[..., list[Verdict]]


def ask(gold: str, answer: str, rules: Rules = RULES) -> Judgement | list[Job]:
    """The host's judgement, or the jobs that it asks for."""
    steps = judge_math(gold, answer, rules=rules, limits=LIMITS)
    try:
        return next(steps)
    except StopIteration as stop:
        return stop.value


@pytest.fixture(scope="module")
def score(pool: Pool) -> Scoring:
    def run(gold: str, *answers: str, **options: Any) -> list[Verdict]:
        verifier = TextVerifier(AnswerCheck.MATH, several=Several.LAST, **options)
        task = Task(Problem("p", "?", answer=gold), verifier)
        texts = [f"\\boxed{{{answer}}}" for answer in answers]
        return list(run_batch(task, texts, backend=pool).verdicts)

    return run


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("391", "391"),
        ("391", "391.0"),
        ("391", r"\text{391}"),
        ("391", "{391}"),
        ("391", r"391\,"),
        ("391", r"$\mathrm{391}\;$"),
        ("1/2", r"\frac{1}{2}"),
        ("1/2", "50\\%"),
        ("1/2", "x = 0.5"),
        ("x = 5", "5"),
        ("6/4", "3/2"),
        ("3/2", "6/4"),
        (r"\frac{6}{3}", r"\frac{4}{2}"),
        (r"2\sqrt{3}", r"$2\sqrt{3}$."),
    ],
)
def test_numerals_and_the_same_text_are_judged_on_the_host(gold: str, answer: str) -> None:
    found = ask(gold, answer)
    assert isinstance(found, Judgement)
    assert found.status is Status.PASSED


@pytest.mark.parametrize(
    "answer",
    [
        *("17*23", r"17\cdot 23", "17 \\times 23", "390+1", "782/2", "391/1", r"\frac{782}{2}"),
        *(r"\sqrt{152881}", "19.7737^2", r"\binom{391}{1}", r"391!/390!", r"\text{391}0"),
        *("390, 391", r"391 \text{ or } 392", "{391}{0}", "--391"),
    ],
)
def test_a_number_must_be_given_as_one_evaluated_number(answer: str) -> None:
    found = ask("391", answer)
    assert isinstance(found, Judgement)
    assert found.status is Status.FAILED


def test_an_unevaluated_answer_is_compared_only_by_option() -> None:
    assert isinstance(ask("391", "17*23", Rules(evaluated=False)), list)


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        (r"\pi", "x" * (MAX_MATH_CHARS + 1)),
        (r"12\pi", r"\gcd(24, 36)\pi"),
        (r"12\pi", r"\binom{12}{1}\pi"),
        (r"6x", "3!x"),
        ("x = 5", "y = 5"),
    ],
)
def test_what_the_parser_would_compute_by_itself_never_reaches_it(gold: str, answer: str) -> None:
    found = ask(gold, answer)
    assert isinstance(found, Judgement)
    assert found.status is Status.FAILED


@pytest.mark.slow
@given(st.text(max_size=40))
def test_the_job_that_reads_a_completion_does_not_hold_the_gold_answer(answer: str) -> None:
    found = ask(r"\sqrt{777000777}", answer)
    asked = found if isinstance(found, list) else []
    assert len(asked) <= 1
    assert all(b"777000777" not in job.message for job in asked)
    assert all(job.profile.role is Role.JUDGE for job in asked)


@pytest.mark.parametrize(
    ("gold", "right", "wrong"),
    [
        (r"\frac{\sqrt{3}}{2}", r"\sqrt{3}/2", r"\frac{\sqrt{2}}{3}"),
        (r"2\sqrt{3}", r"\sqrt{12}", r"\sqrt{3}+\sqrt{3}"),
        ("n^2 + 3n + 1", r"\frac{2n^2 + 6n + 2}{2}", "n^2 + 3n + 2"),
        (r"\{1, 2\}", "2, 1", "1, 2, 3"),
        ("(3, 1)", "(3, 1)", "1, 3"),
        ("(1, 2)", "(1, 2)", "1, 2"),
        ("[1, 2)", "[1, 2)", "(1, 2)"),
        (r"(-\infty, 2]", r"(-\infty,2]", r"(-\infty, 2)"),
        (r"5\pi", r"x = 5\pi", r"2\pi + 3\pi"),
        (r"5\pi", r"5 \pi", r"4\pi = 5\pi"),
        (r"\frac{\pi}{4}", r"\pi / 4", r"\int_0^1 \frac{1}{1+x^2} dx"),
        (r"5x", "x*5", r"\sqrt{25}x"),
        (r"391\sqrt{2}", r"\sqrt{2} \cdot 391", r"17 \cdot 23\sqrt{2}"),
        (r"\sqrt{2}", r"2^{1/2}", "1.414213562373095048801688724209"),
        (r"10^{-20}\pi", r"\pi \cdot 10^{-20}", r"10^{-21}\pi"),
        (r"10^{-20}\pi", r"\pi \cdot 10^{-20}", "0x"),
        (r"\pi", r"y = \pi", r"y^2 = \pi"),
        (r"2\pi", r"y = \frac{4\pi}{2} = 2\pi", r"y = \pi = 2\pi"),
        ("1 < x < 2", "(1, 2)", "1, 2"),
        (r"x^2 + 1 = 0", "x^2 = -1", r"\emptyset"),
        ("x = 1, y = 2", "y = 2, x = 1", "2, 1"),
        ("x = 1, y = 2", "x = 1, y = 2", "x = 2, y = 1"),
        ("x^2 + 1 = 0", "2x^2 + 2 = 0", "x^2 + 2 = 0"),
        ("x^2 + 1 = 0", "x^2 = -1", "0 = 1"),
        ("y = 2x + 1", "2x + 1", "2x"),
        ("x < 2", "2 > x", r"x \le 2"),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{bmatrix}1\\2\end{bmatrix}", "(2, 1)"),
        (r"\text{odd}", "odd", r"\text{even}"),
        (r"5\text{ cm}", r"5 \text{ cm}", r"5\text{ km}"),
    ],
)
def test_equal_expressions_pass_and_others_fail(
    score: Scoring, gold: str, right: str, wrong: str
) -> None:
    passed, failed = score(gold, right, wrong)
    assert (passed.status, passed.score, passed.seal) == (Status.PASSED, 1.0, Seal.TEXT), passed
    assert (failed.status, failed.score, failed.seal) == (Status.FAILED, 0.0, Seal.TEXT), failed


@pytest.mark.parametrize(
    ("gold", "rights", "wrongs"),
    [
        (
            "18",
            [r"\$18", "$18", "**18**", r"\displaystyle 18", r"\left(18\right)"],
            [r"18\%", "18 cm"],
        ),
        ("18107", [r"18,\!107", "18,107", r"18\,107"], ["18, 107", "181070"]),
        ("0.0016", [r"1.6\times10^{-3}", "1.6e-3"], [r"1.6\times10^{3}"]),
        ("1/3", [r"0.\overline{3}"], ["0.3", "0.3333"]),
        (r"-\frac{1}{2}", [r"\frac{1}{-2}", r"\frac{-1}{2}"], [r"\frac{-1}{-2}"]),
        ("30", [r"30^\circ", "30°"], [r"30^\circ C", r"30^\circ 15'"]),
        (r"575\text{ students}", ["575", "575 students"], [r"575\text{ hours}"]),
        (r"18\text{ hours}", ["18", "18 hours", r"18\text{ hr}"], [r"18\text{ minutes}"]),
        (r"5\text{ cm}^2", [r"5\text{ square cm}", "5"], [r"5\text{ cm}^3", r"5\text{ cm}"]),
        ("3, 3, 5", ["5, 3, 3", "3, 5 and 3"], ["3, 5", "3, 5, 5"]),
        (r"\{1, 1, 2\}", [r"\{1, 2\}", "2, 1"], [r"\{1, 2, 3\}"]),
        ("385_9", ["385_{9}", r"385_\text{9}"], ["385", "385_{10}", "320"]),
        ("5:30", ["5 : 30"], ["1/6", "5:03", "30:5"]),
        ("[-3, 2]", [r"\left[-3,2\right]"], ["(-3, 2)", "[2, -3]"]),
        ("(B) Paris", ["B", "(B)", "B. Paris"], ["C", "(B) London", "(B) or (C)", "A"]),
        ("B", ["(B) Paris", r"\textbf{(B)}\ 12", "B. Paris"], ["(B) or (C)", "(C) Paris"]),
        (r"\angle ABC", [r"\angle  ABC"], [r"\angle BAC"]),
        (r"\mathbf{a}\cdot\mathbf{b}", [], [r"\mathbf{a}\times\mathbf{b}"]),
    ],
)
def test_what_a_parser_drops_is_compared_on_the_host(
    gold: str, rights: list[str], wrongs: list[str]
) -> None:
    for answer, status in [(text, Status.PASSED) for text in rights] + [
        (text, Status.FAILED) for text in wrongs
    ]:
        found = ask(gold, answer)
        assert isinstance(found, Judgement), answer
        assert found.status is status, (answer, found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gold", "right", "wrong"),
    [
        ("y'' + y = 0", "y + y'' = 0", "y' + y = 0"),
        ("2A^T", r"A^{T} \cdot 2", "2A"),
        (r"\cos 58^\circ", r"\sin 32^\circ", r"\cos 58"),
        (r"2 \pm \sqrt{3}", r"2 - \sqrt{3}, 2 + \sqrt{3}", r"2 + \sqrt{3}"),
        (r"(-\infty, 2) \cup (3, \infty)", r"x < 2 \text{ or } x > 3", "x < 2"),
        (r"[3,\infty)", r"x \ge 3", "x > 3"),
        ("y = 2x + 3", "2x - y + 3 = 0", "2x - y - 3 = 0"),
        (r"e^{i\pi/3}", r"\frac12 + \frac{\sqrt3}{2}i", r"\frac12 - \frac{\sqrt3}{2}i"),
        (
            r"\begin{pmatrix} a+b & 1 \end{pmatrix}",
            r"[\begin{array}{cc} b+a & 1 \end{array}]",
            r"(1, a+b)",
        ),
        (r"\sqrt{2}, \sqrt{3}+x", r"x+\sqrt{3}, \sqrt{2}", r"\sqrt{2}, x-\sqrt{3}"),
    ],
)
def test_what_a_parser_drops_stays_in_what_it_is_handed(
    score: Scoring, gold: str, right: str, wrong: str
) -> None:
    passed, failed = score(gold, right, wrong)
    assert passed.status is Status.PASSED, passed
    assert failed.status is Status.FAILED, failed


def test_a_gold_answer_that_is_not_evaluated_lets_answers_be_so_too(score: Scoring) -> None:
    assert [item.passed for item in score("2^{100}", "2^{100}", "4^{50}", "2^{99}")] == [
        *(True, True, False)
    ]
    assert [item.passed for item in score(r"\binom{9}{3}x", "84x", r"\binom{9}{6}x")] == [True] * 2


def test_a_tolerance_lets_decimals_stand_for_irrational_numbers(score: Scoring) -> None:
    verdicts = score(r"\sqrt{2}", "1.414", "1.4", r"\frac{99}{70}", rel_tol=1e-3)
    assert [item.passed for item in verdicts] == [True, False, True]


def test_a_percent_sign_means_one_thing_inside_expressions_too(score: Scoring) -> None:
    assert [item.passed for item in score(r"50\%x", "x/2", "50x")] == [True, False]
    points = score(r"50\%x", "x/2", "50x", percent="points")
    assert [item.passed for item in points] == [False, True]


HOSTILE = [
    "__import__('os').system('touch /tmp/owned')",
    r"\text{__import__('os').system('id')}",
    r"\operatorname{__import__}(os)",
    "().__class__.__bases__[0].__subclasses__()",
    "Symbol('x').__class__",
    "Integer(5)",
    "lambda: 5",
    "exec(open('/proc/self/mem'))",
    r"\mathrm{eval}(\sqrt{2})",
    "Mul(Integer(1), Pow(Integer(2), Rational(1, 2)))",
    '["Pow", ["int", "0x2"], ["ratio", "0x1", "0x2"]]',
    '[null, "equal", true, ""]',
    '"\n[null,"equal",true,""]\n"',
    "nan",
    r"\frac{0}{0}",
    r"\infty - \infty",
    r"\sqrt{2} = \sqrt{2} = 3",
    r"\{\sqrt{2}, 3\}",
    r"\sqrt{2} \text{ or } \sqrt{3}",
    r"\pm\sqrt{2}",
    r"x \in \mathbb{R}",
    r"\mathbb{R}",
    "x",
    r"\text{the answer}",
    r"\sqrt{2}\%",
    "\ud800",
    "\x00",
    "\u202e\u200b",
    "{" * 50,
    "\\" * 99,
    r"\sin" + r"\aaaa" * 190 + "! = 2",
    "a = " * 200 + "2",
    "(" * 20 + "i" * 900,
    r"2" + r"\begin{pmatrix}" * 20,
    "",
]


@pytest.mark.slow
def test_no_hostile_text_passes_or_is_left_unscored(score: Scoring) -> None:
    for text, verdict in zip(HOSTILE, score(r"\sqrt{2}", *HOSTILE), strict=True):
        assert verdict.score == 0.0, (text, verdict)
        assert verdict.status is not Status.UNSCORED


@pytest.mark.parametrize(
    "answer",
    [
        "9^{9^{9^{9}}}",
        *(
            pytest.param(text, marks=pytest.mark.slow)
            for text in ("(" * 400, "x^{" * 60 + "2" + "}" * 60, r"\sum_{n=1}^{10^9} n!x")
        ),
    ],
    ids=["tower", "parentheses", "powers", "sum"],
)
def test_an_answer_that_takes_too_long_scores_0_and_is_not_unscored(
    score: Scoring, answer: str
) -> None:
    limits = Limits(wall_s=1.0, cpu_s=2.0, memory_bytes=256 << 20)
    [verdict] = score(r"\sqrt{2}", answer, evaluated=False, limits=limits)
    assert verdict.score == 0.0
    assert verdict.status in {Status.TIMEOUT, Status.LIMIT, Status.FAILED, Status.ERROR}


def test_a_gold_answer_that_cannot_be_read_accepts_nothing_but_itself(score: Scoring) -> None:
    right, wrong = score("2 + * 3", "2 + * 3", r"\sqrt{2}")
    assert right.passed
    assert wrong.status is Status.UNSCORED
    assert "the gold answer cannot be read" in wrong.reason


@pytest.mark.parametrize(
    ("gold", "rights", "wrongs"),
    [
        ("4.1e7", [r"4.1\times10^7\ \mathrm{m/s}", r"4.1e7\ \text{J}", "4.1e7 m/s",
                   r"v = 4.1e7\,\mathrm{m\,s^{-1}}", r"4.1e7\ \mathrm{N \cdot m^2}"],
         [r"4.1\times10^8\ \mathrm{m/s}", r"4.1e7\,\mathrm{x/y}", r"4.1e7\,\text{more}"]),
        ("17", [r"17\ \mathrm{min}", r"17\mathrm{~sec}", "17 sec", "17''", '17"', r"\approx 17",
                r"17\%", r"1700\%", r"\approx 17\%", "17_{10}", r"17_{\text{ten}}"],
         [r"71\ \mathrm{min}", r"\min 17", "18''", "17'", r"\approx 18", r"0.17\%", "17_8"]),
        ("0.3", [r"30\%"], [r"0.3\%", r"3\%"]),
        ("1", [r"100\%"], [r"1\%"]),
        (r"9\%", [r"9\%"], ["9"]),
        ("A_{10}", ["A_{10}"], ["A"]),
    ],
)  # fmt: skip
def test_any_unit_may_stand_beside_a_number(
    gold: str, rights: list[str], wrongs: list[str]
) -> None:
    rules = Rules(any_unit=True)
    found = {text: ask(gold, text, rules) for text in (*rights, *wrongs)}
    passed = [text for text, item in found.items() if item == Judgement(Status.PASSED)]
    assert passed == rights


def test_units_and_percents_that_a_number_has_not_are_refused_otherwise() -> None:
    for text in (r"17\ \mathrm{min}", "17''", r"17\%", r"17\times10^0\ \mathrm{m/s}"):
        assert ask("17", text) != Judgement(Status.PASSED), text


@pytest.mark.parametrize(
    ("gold", "rights", "wrongs"),
    [
        (r"\frac{7}{990}", [r"\frac{7}{9\cdot 110}", r"\frac{7}{10 \cdot 3^2 \cdot 11}"],
         [r"\frac{7}{9\cdot 111}", r"7 \cdot \frac{1}{990}"]),
        ("391", [], [r"\frac{17\cdot 23}{1}", r"\sqrt{391\cdot 391}", "390 = 391"]),
        (r"\sqrt[4]{240}", [r"\sqrt[4]{15\cdot 16}"],
         [r"\sqrt[4]{15\cdot 17}", r"\sqrt[4]{200+40}"]),
        (r"\frac{3}{7z}", [r"\frac{3}{7}\cdot\frac{1}{z}"], [r"\frac{3}{7}\cdot\frac{2}{z}"]),
        (r"\frac{bdf}{bd+df+bf}", [r"\frac{1}{\frac1b+\frac1d+\frac1f}"],
         [r"\frac{1}{\frac1b+\frac1d+\frac2f}", r"\frac{bdf}{bd+df+bd}"]),
        ("y\\,dx+x\\,dy=0", ["x\\,dy+y\\,dx=0"], ["2x\\,dy=0"]),
        ("g(n)=3n-5", ["g(t)=3t-5", "g(x)=-5+3x", "3n-5"], ["h(t)=3t-5", "g(t)=3n-5", "g(t)=3t+5"]),
        ("g(n)=n+t", [], ["g(t)=t+t"]),
        ("g(a)=4", ["4"], ["g(b)=4"]),
        (r"h^{-1}(x)=\sqrt{x+2}", [r"y=\sqrt{2+x}", r"\sqrt{x+2}", r"h^{-1}(t)=\sqrt{t+2}"],
         [r"z=\sqrt{x+2}", r"h(x)=\sqrt{x+2}", r"y=\sqrt{x-2}"]),
        (r"\tan x+c", [r"C+\tan x", r"\tan x+k"], [r"\tan x+c_1", r"\tan x+2C", r"\tan x"]),
        ("y=c_1x^2+c_2x^3", ["y(x)=C_1x^2+C_2x^3", "y=x^2(K_1+K_2x)"],
         ["y=C_1x^2+C_3x^3", "y=C_2x^2+C_1x^3", "y=C_1x^2+c_2x^3"]),
        ("y=ce^{5x}", ["y=Ce^{5x}"], ["y=ke^{5x}", "y=Ce^{x}"]),
        ("ax^2+c", [], ["ax^2+k"]),
        (r"\frac{k_1k_2}{k_1+k_2}", [], [r"\frac{c_1c_2}{c_1+c_2}"]),
        ("i^{35}=(i^4)^8i^3=1\\cdot(-i)=-i", ["-i"], ["i", "1"]),
        ("2x=3y=6", [], ["6"]),
        (r"\sqrt{13}", [r"\sqrt{2^2+3^2}=\sqrt{13}", r"|w|=\sqrt{4+9}=\sqrt{13}"],
         [r"\sqrt{2^2+2^2}=\sqrt{13}", r"\sqrt{13}=\sqrt{2^2+3^2}", r"2r=\sqrt{13}"]),
        (r"\frac{5}{6}", [r"\frac12+\frac13=\frac56"],
         [r"\frac12+\frac14=\frac56", r"x+1=\frac56"]),
    ],
)  # fmt: skip
def test_letters_products_and_chains(
    score: Scoring, gold: str, rights: list[str], wrongs: list[str]
) -> None:
    verdicts = score(gold, *rights, *wrongs)
    paid = [text for text, item in zip((*rights, *wrongs), verdicts, strict=True) if item.passed]
    assert paid == rights
    assert all(item.status is not Status.UNSCORED for item in verdicts)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gold", "rights", "wrongs"),
    [
        (r"\frac{2x}{(x^2+1)^{2/3}}", [r"\frac{2x}{\sqrt[3]{(1+x^2)^2}}"],
         [r"\frac{2x}{\sqrt[3]{1+x^2}}", r"\frac{2x}{\sqrt{(1+x^2)^3}}"]),
        (r"\log_3(x\sqrt{x-2})", [r"\log_9(x^2(x-2))"], [r"\log_9(x(x-2))", r"\log_9(x^2(x+2))"]),
        (r"\sqrt{x}", [r"x^{1/2}"], [r"\sqrt{|x|}"]),
        (r"\sum_{n=0}^{\infty}(n+1)x^n", [r"\sum_{k=1}^{\infty}kx^{k-1}"],
         [r"\sum_{k=1}^{\infty}kx^{k}", r"\sum_{k=0}^{\infty}kx^{k-1}"]),
        (r"\frac{e^{3it}}{1+i}", [r"\frac{\sqrt2}{2}e^{i(3t-\pi/4)}"],
         [r"\frac{\sqrt2}{2}e^{i(3t+\pi/4)}"]),
        ("2^{89}-1", ["2^{89}-1"], ["2^{89}", "2^{89}+1"]),
        (r"1-\frac{77}{2^{120}}", [], [r"1-\frac{76}{2^{120}}", "1"]),
        (r"\frac{1}{4}\ln|x|+C", [r"\ln|x|/4+C"], [r"\ln(|x|/4)+C"]),
        (r"(\gamma-1)(\gamma+1)", [r"\gamma^2-1"], [r"\gamma^2+1"]),
        ("m\\frac{dv}{dt}+kv=F", [r"m\dot v+kv=F", r"\dot{v}=\frac{F-kv}{m}", "mv'(t)+kv(t)=F"],
         [r"m\dot v-kv=F", r"m\ddot v+kv=F"]),
        ("y=\\frac{6}{x}", ["xy=6"], ["xy=5", "x=6"]),
        (r"\frac{3}{4}", ["3:4"], ["4:3", "3:5"]),
        ("3:4", [], [r"\frac34"]),
        ("2-\\sqrt3", [r"(2-\sqrt3):1"], [r"(2+\sqrt3):1"]),
        (r"\frac{\pi}{6}", [r"30^\circ"], [r"60^\circ", "30"]),
        (r"150^\circ", [r"\frac{5\pi}{6}", r"\frac{5\pi}{6}\text{ radians}"],
         [r"150\text{ radians}", r"\frac{\pi}{6}"]),
        (r"\begin{pmatrix}2\\\frac12\\0\end{pmatrix}",
         [r"\frac12\begin{bmatrix}4\\1\\0\end{bmatrix}", r"\langle 2,\tfrac12,0\rangle",
          r"2\mathbf{i}+\frac12\mathbf{j}", r"(2,\frac12,0)^T"],
         [r"2\begin{bmatrix}4\\1\\0\end{bmatrix}",
          r"2\mathbf{i}-\frac12\mathbf{j}", r"2\mathbf{j}"]),
        ("(3x^2, -y)", [r"\nabla f=3x^2\,\mathbf{i}-y\,\mathbf{j}"],
         [r"3x^2\,\mathbf{i}+y\,\mathbf{j}"]),
        ("(2, \\pi)", [r"r=2, \theta=\pi"], [r"r=\pi, \theta=2"]),
        ("(\\frac12, -3)", [r"m=\frac12,\; b=-3"], [r"b=\frac12,\; m=-3"]),
        ("(1, 1, 1)", ["x=y=z=1", "1, 1, 1"], ["x=y=z=2", "1, 1", "x=y=1"]),
        ("(-4, 1), (2, 1)", [r"x=-4,y=1\text{ or }x=2,y=1"], [r"x=1,y=-4\text{ or }x=2,y=1"]),
        ("[x=2, y=-5]", ["(x,y)=(2,-5)", "y=-5, x=2"], ["(x,y)=(-5,2)"]),
        (r"(-\infty,1)\cup(1,4)\cup(4,\infty)", [r"x\ne 1,\ x\ne 4"],
         [r"x\ne 1,\ x\ne 5", r"x\ne 1"]),
        (r"[2,\infty)", [r"f(x)\ge 2"], [r"f(x)>2"]),
        (r"[1,\infty),(0,\infty)", [r"\{x\mid x\ge 1\},\{x\mid x>0\}"],
         [r"\{x\mid x>1\},\{x\mid x>0\}"]),
        ("f(n)=2n",
         [r"f(n)=2n\text{ for all }n\in\mathbb{N}", r"f(n)=2n\quad\forall n\in\mathbb{Z}",
          r"f\colon n\mapsto 2n"],
         [r"f(n)=3n\text{ for all }n\in\mathbb{N}"]),
        ("43", [r"N\equiv 43\pmod{50}", "a-2b=43", "P(X=1)=43", "D^2=5^2+18=43"],
         [r"N\equiv 43\pmod{40}", "a-2b=44", "x+1=43"]),
        ("52_8", [r"6_8\cdot 7_8=52_8"], [r"6_8\cdot 7_8=53_8", "42_8"]),
        (r"\frac{5}{143}", [r"\frac{\binom{5}{3}}{\binom{13}{3}}=\frac{5}{143}"],
         [r"\frac{\binom{5}{3}}{\binom{12}{3}}=\frac{5}{143}"]),
        (r"\frac{n(n-1)}{2}", [r"\binom{n}{2}"], [r"\binom{n+1}{2}"]),
        ("12,\\! 345,\\! 000", ["12345000", r"12\,345\,000"], ["1234500"]),
        ("C", [r"C. $4+\sqrt2$", "C. 16"], ["B. 16", "C. 1 or B. 2"]),
        ("2^{30}", [r"\text{the difference is } 2^{30}"], [r"\text{the difference is } 2^{31}"]),
        ("5r", [r"5r\quad(r\neq 0)"], [r"4r\quad(r\neq 0)"]),
        ("7.4e-12", [r"0.74 x 10^{-11}"], ["0.74 x 10^{-12}"]),
    ],
)  # fmt: skip
def test_one_value_in_the_notations_that_people_write(
    score: Scoring, gold: str, rights: list[str], wrongs: list[str]
) -> None:
    verdicts = score(gold, *rights, *wrongs)
    paid = [text for text, item in zip((*rights, *wrongs), verdicts, strict=True) if item.passed]
    assert paid == rights
    assert all(item.status is not Status.UNSCORED for item in verdicts)
