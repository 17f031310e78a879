r"""Answers in words, labelled lists and sentences, each with what is near it and wrong."""

from __future__ import annotations

import pytest

from unhack.integrations.answers import AnswerTasks
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.verifiers.answers.sentences import conclusion
from unhack.verifiers.answers.spelling.words import counted

CASES: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]] = [
    ("Which of (A) 2, (B) 3, (C) 4 is prime and odd?", "B",
     ("So B is correct.", "It is 3, which is choice (B).", "Option B, since 3 is odd.",
      "Only 3 is odd and prime, i.e. option **B**."),
     ("Option C, not option B.", "B is wrong.", "Options A and B", "Option B or option C",
      "I would exclude option B", "Option B is close, but C is correct")),
    ("How many stamps are there?", "42",
     ("So there are 42 stamps in total.", "She has 42 stamps left.", "It is forty-two.",
      "42 is the answer."),
     ("She has 42 fewer stamps.", "There are 42 or 43 stamps.", "There aren't 42 stamps")),
    ("What is the charge?", "+3", ("The net charge is +3.", "The charge is 3, so it is 3"),
     ("The net charge is not +3.", "The net charge is -3.", "The net charge is 3 or 4.",
      "The charge is 3, so the sum is 4.")),
    ("How much does it cost?", "84", ("12 x 7 = 84. So the order costs 84 dollars.",
                                      "7 crates of 12, in total **84**"),
     ("12 x 7 = 84. So the order costs 94 dollars.", "It is **84** or **94**", "It is not **84**")),
    ("What day is it?", r"\text{Friday}",
     ("The last day of the month is a Friday.", "It is Friday"),
     ("The last day of the month is not a Friday.", "It is Thursday or Friday",
      "The day after that day is Friday", "The last day of the month is a Monday.")),
    ("Is it enough?", r"\text{a sufficient but not a necessary condition}",
     (r"\boxed{\text{sufficient but not necessary}}",
      r"\boxed{\text{a sufficient but not necessary condition}}"),
     (r"\boxed{\text{necessary but not sufficient}}", r"\boxed{\text{sufficient and necessary}}")),
    ("Do they exist?", "No, there are none of them.", ("No", r"\boxed{\text{No}}", "No, none do."),
     ("Yes", "No, but yes", "Yes, there are none of them.")),
    ("Where does it lie?", "$Quadrant II$",
     ("The second quadrant", r"\boxed{\text{second quadrant}}", r"\boxed{\text{Quadrant II}}"),
     ("The third quadrant", r"\boxed{\text{Quadrant III}}", "The second or third quadrant")),
    ("How many did each of them sell?", "30,120",
     (r"\boxed{30, 120}", "30 and 120", r"\boxed{\text{Anna: }30,\ \text{Boris: }120}"),
     (r"\boxed{\text{Boris: }120,\ \text{Anna: }30}", r"\boxed{30, 12}", r"\boxed{30}")),
    ("Find the net and the total.", "0,360",
     (r"\boxed{0, 360}", r"\boxed{\text{net}=0, \text{total}=360}"),
     (r"\boxed{360}", r"\boxed{0}")),
    ("How many did they sell?", "30,120", (r"\boxed{30120}",), (r"\boxed{30, 120}",)),
    ("Find both.", "domain: $[2,7]$, range: $(0,1)$",
     (r"\boxed{\text{range: }(0,1),\ \text{domain: }[2,7]}",),
     (r"\boxed{\text{range: }[2,7],\ \text{domain: }(0,1)}",
      r"\boxed{\text{domain: }[2,7],\ \text{range: }[0,1)}")),
    ("Determine $e(8)$ and $e(9)$.", "$74$,$45$", ("e(9)=45, e(8)=74",), ("e(8)=45, e(9)=74",)),
    ("What is the ratio?", "2:5", (r"\boxed{\frac{2}{5}}",), (r"\boxed{\frac{5}{2}}", "2")),
    ("How long, in nm?", "430", ("430 nm", "430"), ("430 mm", "430 nm or 440 nm")),
    ("Which energy, in kJ/mol?", "31.7", ("31.7 kJ/mol",), ("31.7 J",)),
    ("Which capacity?", "1e-7", ("10^-7 F", "1.0 x 10^-7 F"), ("10^-6 F",)),
    ("What voltage, in Volts?", "730", (r"\boxed{730\text{ V}}",), (r"\boxed{730\text{ kV}}",)),
    ("What is the angle in degrees?", "20", (r"\boxed{20^\circ}",),
     (r"\boxed{20\text{ radians}}",)),
    ("How large is it? Give the dimensions.", r"4\times 9", ("4 feet by 9 feet",),
     ("4 feet by 8 feet",)),
    ("Where does it hold?", r"(-\infty,0)\cup\{5\}", (r"\boxed{P(0)<0\text{ or }P(0)=5}",),
     (r"\boxed{P(0)\le0\text{ or }P(0)=5}", r"\boxed{P(0)<0}")),
    ("For which t?", "$s(0,6]$", (r"\boxed{s\in(0,6]}", "0 < s ≤ 6"), (r"\boxed{s\in(0,6)}",)),
    ("Which set?", r"\{x|x=5k,k\in\mathbb{Z}\}",
     (r"\boxed{\{5k : k\in\mathbb{Z}\}}", r"\boxed{\{x: x=5k, k\in\mathbb{Z}\}}"),
     (r"\boxed{\{5k+1 : k\in\mathbb{Z}\}}", r"\boxed{\{5k : k\in\mathbb{N}\}}")),
    ("Which domain?", "No domain", ("The empty set", r"\boxed{\varnothing}"), (r"\boxed{\{0\}}",)),
    ("What is the index?", r"\lfloor\frac{3n-1}{4}\rfloor", ("floor((3n-1)/4)",),
     ("(3n-1)/4", "ceil((3n-1)/4)")),
    ("In base 3?", "20112_3", ("20112 in base 3",), ("20112 in base 4",)),
    ("How many?", r"\binom{3n}{n}", (r"\boxed{\frac{(3n)!}{n!(2n)!}}",),
     (r"\boxed{\frac{(3n)!}{n!}}",)),
    ("Which wavelength?", r"\lambda_{\text{blue}}/\sqrt{3}",
     (r"\boxed{\frac{\lambda_{\text{blue}}}{\sqrt3}}",),
     (r"\boxed{\frac{\lambda_{\text{red}}}{\sqrt3}}", r"\boxed{\frac{\lambda}{\sqrt3}}")),
    ("Invert it.", r"\left[\begin{array}{ll}1&1\\2&0\end{array}\right]^{-1}"
     r"=\left[\begin{array}{cc}0&\frac12\\1&-\frac12\end{array}\right]",
     (r"\boxed{\frac12\begin{bmatrix}0&1\\2&-1\end{bmatrix}}",
      r"\boxed{A^{-1}=\begin{pmatrix}0&1/2\\1&-1/2\end{pmatrix}}"),
     (r"\boxed{\begin{pmatrix}1&1\\2&0\end{pmatrix}}",)),
    ("Solve it.", r"c x^{-3}-\frac{\sin x}{x^3}",
     (r"\boxed{y(x)=\frac{C}{x^3}-\frac{\sin x}{x^3}}",),
     (r"\boxed{y(x)=\frac{C}{x^2}-\frac{\sin x}{x^3}}",)),
]  # fmt: skip


TWO_ANSWERS = (
    "5, so 6", "6. So 5.", "Therefore 5, therefore 6.", "so 5, so 6, so 5", "5, hence 6",
    "3 or 5, so 5", "3, so 4, so 5", "4, 5, 6, so 6", "perhaps 5, so perhaps 6",
    "It is 5, so it is 6.", "It is 5, it is 6, so it is 6", "It is 5, so 6 is wrong",
    "x = 5, so x = 6", "x = 5. Therefore, x = 6.", "2x = 10, so x = 5, so x = 6",
    "2x = 12, x is 5, so x = 6", "x = 5 or x = 6, so x = 6", "2 + 3 = 5, so 6",
    "2 + 3 = 5, so it is 6", "n = 30, so 6 divides n", "n = 30, so 5 divides n",
    "Either **5** or **6**", "Either 5 or **6**", "It is 5, and it is **6**",
    "It is less than **6**",
    "It isn't **6**", "It is 5. It is **6**.", "x = 5, y = 5 and x = **6**",
    "Nobody says the total is 6", "I doubt that it is 6.", "It isn't clear that the total is 6",
    "6 squared", "6 factorial", r"\boxed{6\text{ (wrong)}}", "five or six",
    "six and a half", "6 or 5 is the answer",
)  # fmt: skip
"""Texts that say no one answer, or take back what they say."""


def test_no_text_with_two_answers_is_paid_for_either(pool: Pool) -> None:
    for gold in ("5", "6"):
        task = AnswerTasks("gold")({"gold": gold, "question": "What is it?"})
        batch = run_batch(task, list(TWO_ANSWERS), backend=pool)
        assert not [text for text, score in zip(TWO_ANSWERS, batch.rewards, strict=True) if score]


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        ("2x = 10, so x = 5", "x = 5"),
        ("We have 2x = 10; hence x = 5", "x = 5"),
        ("2x = 10, so y = 5", "2x = 10, so y = 5"),
        ("x = 5, so x = 6", "x = 5, so x = 6"),
        ("12 x 7 = 84. So the order costs 84 dollars", "the order costs 84 dollars"),
        (
            "12 x 7 = 84. So the order costs 94 dollars",
            "12 x 7 = 84. So the order costs 94 dollars",
        ),
        ("3 jars of 4, in total **12**", "12"),
        ("17 is the answer", "17"),
    ],
)
def test_a_conclusion_is_read_only_from_what_leads_to_it(line: str, stated: str) -> None:
    assert conclusion(line) == stated


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("forty-two", "42"),
        ("two hundred and fifty-six", "256"),
        ("three eighths", r"\frac{3}{8}"),
        ("twelve jars", r"12\text{jars}"),
        *((text, None) for text in ("two forty", "five or six", "ten two", "one and", "the five")),
    ],
)
def test_a_number_in_words_is_read_whole_or_not_at_all(words: str, number: str | None) -> None:
    assert counted(words) == number


@pytest.mark.parametrize(("question", "gold", "right", "wrong"), CASES)
def test_an_answer_in_words_is_read_and_what_is_near_it_is_not(
    question: str, gold: str, right: tuple[str, ...], wrong: tuple[str, ...], pool: Pool
) -> None:
    task = AnswerTasks("gold")({"gold": gold, "question": question})
    texts = (*right, *wrong)
    batch = run_batch(task, list(texts), backend=pool)
    assert {text for text, score in zip(texts, batch.rewards, strict=True) if score} == set(right)
