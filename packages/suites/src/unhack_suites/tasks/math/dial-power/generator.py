"""Random dials: prime and composite sizes, common factors, few and very many midnights."""
import random


def row(marks: int, start: int, factor: int, midnights: int) -> dict[str, str]:
    """One problem (0 <= start < marks); the answer comes from repeated squaring."""
    prompt = (
        f"A dial has {marks} marks, numbered from 0 to {marks - 1}. Today at noon its hand stands "
        f"on mark {start}. Each midnight it jumps from mark $x$ to the mark whose number is the "
        f"remainder of ${factor}x$ on division by {marks}. On which mark does it stand after "
        rf"{midnights} midnights? Put the final answer in \boxed{{}}."
    )
    mark, jump, left = start % marks, factor % marks, midnights
    while left:
        if left % 2:
            mark = mark * jump % marks
        jump = jump * jump % marks
        left //= 2
    return {"prompt": prompt, "answer": str(mark)}


def generate(rng: random.Random) -> dict[str, str]:
    while True:
        marks = rng.choice([7, 10, 11, 12, 13, 16, 24, 60, 97, 100, rng.randint(3, 150)])
        start = rng.choice([1, rng.randrange(marks), rng.randrange(1, marks)])
        huge = 10 ** rng.randint(5, 12)
        midnights = rng.choice([1, 2, rng.randint(3, 60), rng.randint(100, 9999), huge])
        problem = row(marks, start, rng.randint(2, 20), midnights)
        if problem["answer"] != "0" or rng.random() < 0.2:  # keep the dull answer rare
            return problem
