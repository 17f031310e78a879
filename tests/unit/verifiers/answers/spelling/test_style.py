r"""Answers that are written by one convention for golds that are written by another."""

from __future__ import annotations

import pytest

from unhack.core.problem import Problem
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.task import Task
from unhack.verifiers.answers.spelling.style import in_order, turned, with_cases_apart
from unhack.verifiers.text import AnswerCheck, TextVerifier

PAIRS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "304_7": (
        ("(304)_7", r"304_{\text{seven}}", "304_{(7)}", r"304\text{ (base 7)}",
         r"304\text{ base seven}"),
        ("304", "304_8", "(304)_{17}", r"304\text{ base }6", "403_7"),
    ),
    "2F_{16}": (("0x2F", "0x2f", "(2F)_{16}"), ("0b101111", "2F", "0x2E")),
    r"x\equiv 3\pmod{8}": (
        (r"x \equiv 3 \mod 8", r"x\equiv 11\ (\text{mod }8)", r"x\equiv -5\pmod 8",
         r"x=8k+3,\ k\in\mathbb{Z}", r"x = 3 + 8n, n \in Z"),
        (r"x\equiv 3\pmod{9}", r"x\equiv 5\pmod{8}", "x=8k-3,\\ k\\in\\mathbb{Z}", "3"),
    ),
    r"n\equiv 1,5\pmod{6}": ((r"n\equiv 5, 1\pmod 6",),
                            (r"n\equiv 1\pmod 6", r"n\equiv 1,4\pmod 6")),
    "(1,4]": (("]1,4]", "1<x\\le 4"), ("[1,4]", "]1,4[", "1\\le x<4")),
    r"(7,\infty)": ((r"(7,+\infty)", r"7<x<\infty", "x>7"), (r"(-\infty,7)", r"[7,+\infty)")),
    r"(-\infty,2)\cup(2,\infty)": ((r"x\neq 2", "x≠2"), (r"x\neq -2", r"(-\infty,\infty)")),
    "|t|<5": (("-5<t<5", "(-5,5)"), ("[-5,5]", "t<5", "(-5,6)")),
    r"\{-2\}\cup[1,\infty)": ((r"x=-2\text{ or }x\ge 1",), (r"x=2\text{ or }x\ge 1", r"x\ge 1")),
    r"\emptyset": ((r"\{\}", r"\{\,\}", "∅"), (r"\{\emptyset\}", r"\{0\}")),
    r"\overline{ST}": ((r"\overline{TS}",), (r"\overline{SU}", "ST")),
    r"\angle KLM": ((r"\angle MLK", "∠KLM"), (r"\angle LKM", r"\angle KML")),
    "BCE": (("B, C, E", r"\text{B,C,E}", "B、C、E"), ("B,C", "A,B,C,E", "B,E,D")),
    "y'''' + y = 0": (("y^{(4)}+y=0",), ("y^{4}+y=0", "y'''+y=0")),
    "5:8": ((r"5\text{ to }8",), (r"8\text{ to }5", "5/8")),
    r"15\%": ((r"15\text{ percent}",), ("15", r"1.5\text{ percent}")),
    r"\text{does not exist}": (("DNE", r"\text{DNE}"), (r"\text{exists}", "0")),
    "2400000": ((r"2.4\text{ million}", r"2\ 400\ 000", "2 400 000", "2.400.000"),
                (r"2.4\text{ billion}", "2.4", "2 400")),
    "4{,}25": (("4.25", r"\frac{17}{4}"), ("4, 25", "425", "4.2")),
    r"0.\overline{63}": ((r"0.6363\ldots", r"0.\dot{6}\dot{3}", "7/11"),
                         ("0.63", r"0.\overline{36}")),
    r"(3,-8)": (("x=3,\\ y=-8", "y=-8, x=3"), ("x=-8, y=3", "x=3", "x=3, z=-8")),
    "x=4\\text{ or }x=9": (("x_1=4,\\ x_2=9", "x_1=9, x_2=4"), ("x_1=4, x_2=8", "x_1=4, y_2=9")),
    "p<q<r": (("r>q>p",), ("r<q<p", "p<r<q")),
    "A_1=3A_2": ((r"A_2=\frac{A_1}{3}",), ("A_2=3A_1",)),
    "y=5x-2": (("5x-2=y", "5x-2"), ("5x+2=y", "z=5x-2")),
    r"\begin{cases} x^2, & x\ge 1 \\ 3, & x<1 \end{cases}": (
        (r"\begin{cases} 3 & \text{if } x<1 \\ x^2 & \text{if } x\ge 1 \end{cases}",
         r"\left\{\begin{array}{ll}x^2,&x\ge1\\3,&x<1\end{array}\right."),
        (r"\begin{cases} x^2, & x<1 \\ 3, & x\ge 1 \end{cases}",),
    ),
    r"\begin{pmatrix}1&2\\3&4\end{pmatrix}": (
        (r"\begin{bmatrix}1&2\\[4pt]3&4\end{bmatrix}",), (r"\begin{pmatrix}1&3\\2&4\end{pmatrix}",),
    ),
    r"\mathbf{P}^{\top}\mathbf{Q}": ((r"\mathbf{P}^T\mathbf{Q}",),
                                     (r"\mathbf{Q}\mathbf{P}^T", r"PQ")),
    r"\frac{Mm}{M+m}": ((r"\frac{mM}{m+M}",), (r"\frac{M^2}{M+m}", r"\frac{Mm}{2m}")),
    r"3\mathbf{i}-\mathbf{k}": ((r"3\hat{\imath}-\hat{k}", r"3\vec{i}-\vec{k}"),
                                (r"3\vec{j}-\vec{k}",)),
    "(x+3)^3": (("(3+x)^3", "(x+3)(x+3)^2"), ("(x+3)^2", "(x-3)^3")),
    r"e^{-x}\sin x": ((r"\sin x\cdot\exp(-x)",), (r"\sin(x e^{-x})",)),
    r"\frac{3}{8}": ((r"\color{blue}{\frac{3}{8}}", r"\underline{\frac38}",
                      r"{\Large \frac{3}{8}}"),
                     (r"\color{blue}{\frac{8}{3}}",)),
    r"\binom{m}{2}": ((r"{m \choose 2}",), (r"{2 \choose m}",)),
    r"\lim_{x\to 0^+} g(x)": ((r"\lim_{x \to 0^{+}} g(x)",), (r"\lim_{x \to 0^{-}} g(x)",)),
    "24": (
        ("BC = 24", r"P(A \cup B) = 24", r"4! = 24", r"3+8+13 = 24", r"\text{Area} = 4\cdot 6 = 24",
         "a-b = 24", "|z| = 24", "P = 24"),
        ("x+1 = 24", "2x = 24", "25 = 24", "x = 25 = 24", "24 = 25", "24 = x+1"),
    ),
    "0.5": ((r"\cos 60^\circ = 0.5", r"\cos 60^\circ \approx 0.5"), (r"2\cos 60^\circ = 0.5",)),
    "BC=24": (("24", "BC = 24"), ("25", "BC=25")),
    "p+q=24": (("24=p+q", "q=24-p"), ("24",)),
    r"1/\sqrt{3}\approx 58\%": ((r"\frac{\sqrt{3}}{3}", r"58\%", r"\frac{1}{\sqrt3}\approx 57.7\%"),
                               (r"\frac{1}{3}", r"57\%", r"\sqrt{3}\approx 58\%",
                                r"1/\sqrt{3}\approx 59\%")),
    r"\frac{2}{\sqrt{3}}": ((r"\frac{2}{\sqrt 3}\approx 1.155",),
                            (r"\frac{3}{\sqrt 2}\approx 1.155",
                             r"\frac{2}{\sqrt 3}\approx 1.2547")),
    r"\frac{d^{2}v_{o}}{dt^{2}}+v_{o}=v_{i}": (
        (r"\ddot v_o+v_o=v_i", r"v_o''+v_o=v_i", r"\frac{d^2v_o}{dt^2}=v_i-v_o"),
        (r"\dot v_o+v_o=v_i", r"\ddot v_i+v_o=v_i"),
    ),
    r"(-\infty,0)\cup(0,1)\cup(1,\infty)": (
        (r"\text{all real numbers except 0 and 1}", "all real numbers a except a = 0 and a = 1"),
        (r"\text{all real numbers except 0}", r"\text{all real numbers except 0 and 2}"),
    ),
    r"(-\infty,\infty)": ((r"\text{all real numbers}", r"\mathbb{R}"),
                          (r"\text{all numbers}", r"\mathbb{Q}",
                           r"\text{all positive real numbers}")),
    r"\text{no solution}": ((r"\emptyset", "There are no solutions", r"\{\}", "{no solution}"),
                            ("0", r"\{0\}")),
    r"x<1\text{ or }x>3": ((r"(-\infty,1)\cup(3,\infty)", "x>3 or x<1", "x<1, x>3"),
                          (r"x<1\text{ and }x>3", "(1,3)", "1<x<3")),
    r"\frac{dy}{dx}": ((r"\frac{d y}{d x}", "dy/dx"), (r"\frac{dx}{dy}", "0")),
    "1, -2, 5": (("c=5, b=-2, a=1", "5, 1, -2", "x_1=5, x_2=1, x_3=-2"), ("a=1, b=5, c=-2",)),
    r"\text{ellipse}": (("an ellipse", r"\text{an ellipse}"), ("a circle",)),
    r"f(x)=\frac{1}{x}": (
        (r"f(q)=\frac1q\quad(q\in\mathbb{Q}^+)", r"f(x)=1/x\text{ for all positive rational }x"),
        (r"f(q)=q\quad(q\in\mathbb{Q}^+)", r"f(x)=\frac1y\text{ for all real }x",
         r"f(x)=\frac1x\text{ for all real }y"),
    ),
    "C": (("option C", r"\text{Option C is correct}", "(C) Either I or II", r"C\ (\text{seven})"),
          ("option D", "(C) or (D)", r"C(x)", r"\text{not option C}")),
    "1000000": ((r"\text{one million}",), (r"\text{one thousand}", r"\text{a million}")),
    "45\\text{ mph}": ((r"45\text{ miles per hour}",), (r"45\text{ km/h}",)),
}  # fmt: skip


@pytest.mark.parametrize("gold", PAIRS)
def test_each_convention_is_read_and_what_is_near_it_is_not(gold: str, pool: Pool) -> None:
    right, wrong = PAIRS[gold]
    task = Task(Problem("p", "", answer=gold), TextVerifier(AnswerCheck.MATH))
    batch = run_batch(task, [f"\\boxed{{{text}}}" for text in (*right, *wrong)], backend=pool)
    paid = {text for text, score in zip((*right, *wrong), batch.rewards, strict=True) if score}
    assert paid == set(right)


def test_a_list_may_have_a_box_for_each_member(pool: Pool) -> None:
    said = {
        r"Either $\boxed{2}$ or $\boxed{7}$.": 1.0,
        r"\boxed{7}, \boxed{2}": 1.0,
        r"$\boxed{2}$ and $\boxed{7}$ and $\boxed{9}$": 0.0,
        r"First we find \boxed{2}, from which it follows that x is \boxed{7}": 1.0,
        "The one is \\boxed{7},\n\nand for a longer rope, after\n\n- \\boxed{2}.": 1.0,
        r"<think>\boxed{5}</think> It is \boxed{7} here, but \boxed{2} there": 1.0,
        r"It is \boxed{7} here, but there it is \boxed{3}": 0.0,
        r"First \boxed{2}, then also \boxed{7}, and in the end \boxed{2}": 0.0,
        r"First \boxed{2}, so that we have both: \boxed{2, 7}": 0.0,
        r"It is \boxed{2, 7}, and that is all: \boxed{2, 7}": 1.0,
    }
    for gold, paid in (("2, 7", said.values()), ("7", [0.0] * len(said))):
        task = Task(Problem("p", "", answer=gold), TextVerifier(AnswerCheck.MATH))
        assert run_batch(task, list(said), backend=pool).rewards == tuple(paid)


def test_chains_names_and_letters() -> None:
    assert turned(r"c>b\geq a") == r"a\leq b<c"
    assert turned("a<b") == "a<b"
    assert in_order(["y", "x"]) == [1, 0]
    assert in_order(["x", "q"]) is None
    assert with_cases_apart("Aa", "A_{1}") == ("A_{u}a", "A_{u1}")
    assert with_cases_apart("A", "A") == ("A", "A")
