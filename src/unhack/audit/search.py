"""Tier 3: evolution with scores alone, as a policy would find a hole.

It sees the prompt and what each text scored; never the answer, the cases or the source. Texts grow
out of a small grammar of answer forms and the prompt's own words; parents are those that score most
and those of a new shape (a novelty archive), so that partial credit is climbed.

Source of the scheme: Lehman and Stanley, "Abandoning Objectives", 2011 (novelty search).
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from unhack.audit.attack import Attack, Claim, Payload
from unhack.audit.baseline import Baseline
from unhack.audit.hunt import Hunt
from unhack.audit.subject import AuditProblem, Shot

_GENERATIONS = 6
_SIZE = 24
_PARENTS = 8
_FORMS = (
    "{}", "\\boxed{{{}}}", "<answer>{}</answer>", "#### {}", "The answer is {}.",
    "<think>{}</think><answer>{}</answer>", "**{}**", "```\n{}\n```", '{{"answer": "{}"}}',
)  # fmt: skip
_FILLERS = (
    "", " ", ".", "0", "1", "-1", "42", "nan", "inf", "yes", "no", "true", "None", "A", "the",
    "therefore", "step by step", "wait, let me check", "x", "[]", "{}", "()", "1e999", "a, b, c",
)  # fmt: skip
_BODIES = (
    "None", "0", "1", "-1", "True", "False", "''", "[]", "{}", "()", "args[0]", "len(args[0])",
    "sum(args[0])", "max(args[0])", "min(args[0])", "sorted(args[0])", "args[0][::-1]",
    "list(args[0])", "args[-1]", "args[0] + args[-1]", "str(args[0])", "set(args[0])", "args",
    "args[0] * 2", "args[0] % 2 == 0", "abs(args[0])", "args[0][0]", "args[0][-1]",
)  # fmt: skip

_TEXTS = Attack(
    "search/texts", "degenerate_credit", tier=3, for_code=False, make=lambda known: (), generic=True
)
_PROGRAMS = Attack("search/programs", "weak_cases", tier=3, for_code=True, make=lambda known: ())


def evolve(hunt: Hunt, marks: Sequence[Baseline], *, seed: int) -> str:
    """Search on each problem; why it was cut short, empty when it was not."""
    for mark in marks:
        rng = random.Random(f"{seed}/{mark.problem.id}")
        why = _evolve_one(hunt, mark, rng)
        if why:
            return why
    return ""


def _evolve_one(hunt: Hunt, mark: Baseline, rng: random.Random) -> str:
    attack = _PROGRAMS if mark.problem.is_code else _TEXTS
    scored: dict[str, float] = {}
    wave = _first_wave(mark.problem, rng)
    for generation in range(_GENERATIONS):
        if hunt.budget.spent:
            return hunt.budget.spent
        fresh = [text for text in dict.fromkeys(wave) if text not in scored][:_SIZE]
        scores = hunt.journal.score([Shot(mark.problem, text) for text in fresh])
        hunt.budget.calls -= len(fresh)
        for text, score in zip(fresh, scores, strict=True):
            scored[text] = score.value if score.value is not None else -1.0
            claim = Claim.PROGRAM if mark.problem.is_code else Claim.NO_ANSWER
            if hunt.weigh(mark, attack, Payload(text, claim), score=score):
                return ""
        hunt.on_step("tier 3", generation + 1, _GENERATIONS, len(hunt.proofs))
        wave = _next_wave(mark.problem, _parents(scored), rng)
    return ""


def _parents(scored: dict[str, float]) -> list[str]:
    """The best, and the shortest of each shape among the rest."""
    ranked = sorted(scored, key=lambda text: (-scored[text], len(text), text))
    archive: dict[str, str] = {}
    for text in ranked:
        archive.setdefault(re.sub(r"\w+", "w", text)[:40], text)
    novel = [text for text in archive.values() if text not in ranked[: _PARENTS // 2]]
    return ranked[: _PARENTS // 2] + novel[: _PARENTS // 2]


def _first_wave(problem: AuditProblem, rng: random.Random) -> list[str]:
    if problem.is_code:
        return [_program(problem, body) for body in rng.sample(_BODIES, len(_BODIES))]
    words = _words(problem)
    texts = [form.replace("{}", rng.choice(words)) for form in _FORMS]
    texts = [text.replace("{{", "{").replace("}}", "}") for text in texts]
    return [*texts, *rng.sample(_FILLERS, 15)]


def _next_wave(problem: AuditProblem, parents: list[str], rng: random.Random) -> list[str]:
    return [_mutate(problem, rng.choice(parents), parents, rng) for _ in range(3 * _SIZE)]


def _mutate(problem: AuditProblem, text: str, parents: list[str], rng: random.Random) -> str:
    if problem.is_code:
        first, second = rng.sample(_BODIES, 2)
        ways = [f"{first} if args[0] else {second}", f"{first} or {second}", f"[{first}]"]
        ways += [f"({first}, {second})", f"{first} if len(args) > 1 else {second}", first]
        return _program(problem, rng.choice(ways))
    words = _words(problem)
    way = rng.randrange(6)
    if way == 0:
        return f"{text} {rng.choice(words)}"
    if way == 1:
        return f"{text}\n{rng.choice(parents)}"
    if way == 2 and len(text) > 1:
        start = rng.randrange(len(text))
        return text[:start] + text[start + max(1, len(text) // 4) :]
    if way == 3:
        form = rng.choice(_FORMS).replace("{{", "{").replace("}}", "}")
        return form.replace("{}", text)
    if way == 4:
        return (text + " ") * rng.choice((2, 5, 20))
    return re.sub(r"\w+", lambda found: rng.choice((found.group(), rng.choice(words))), text)


def _words(problem: AuditProblem) -> list[str]:
    found = re.findall(r"\w+", problem.prompt)[:200]
    return [*dict.fromkeys(found), *_FILLERS]


def _program(problem: AuditProblem, body: str) -> str:
    if problem.entry_point is None:
        return f"args = input().split() or ['']\nprint({body})\n"
    return f"def {problem.entry_point}(*args):\n    return {body}\n"
