"""Every framework's signature is told from the source, and called as the framework calls it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sampling import quick_ones

from unhack.audit.subject import AuditProblem, Query
from unhack.audit.subjects.call_plans import plan_call
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.signatures import NAMES, Signature, detect, is_about_form
from unhack.audit.subjects.target import find_target
from unhack.core.errors import UnknownNameError, UsageError
from unhack.sandbox.pool.pool import Pool

PROBLEM = AuditProblem(
    "p", "What is 6 * 7?", "42", extra={"level": 3, "metadata": {"difficulty": 1}}
)

CASES: dict[str, tuple[str, str]] = {
    "trl": (
        "f",
        "def f(prompts, completions, completion_ids, answer, level, trainer_state=None, **kw):\n"
        "    assert prompts == ['What is 6 * 7?'] and level == [3]\n"
        "    assert len(completion_ids[0]) == 2\n"
        "    return [float(c == a) for c, a in zip(completions, answer)]\n",
    ),
    "open_r1": (
        "f",
        "def f(completions, solution, **kwargs):\n"
        "    texts = [completion[0]['content'] for completion in completions]\n"
        "    return [1.0 if t == s else 0.0 for t, s in zip(texts, solution)]\n",
    ),
    "verl": (
        "compute_score",
        "def compute_score(data_source, solution_str, ground_truth, extra_info=None):\n"
        "    assert extra_info['level'] == 3\n"
        "    return {'score': solution_str == ground_truth, 'acc': 0}\n",
    ),
    "verl_batch": (
        "f",
        "def f(data_sources, solution_strs, ground_truths, extra_infos, **kw):\n"
        "    return [float(s == g) for s, g in zip(solution_strs, ground_truths)]\n",
    ),
    "openrlhf": (
        "reward_func",
        "def reward_func(queries, prompts, labels, **kwargs):\n"
        "    given = [q[len(p):] for q, p in zip(queries, prompts)]\n"
        "    return {'rewards': [float(g == s) for g, s in zip(given, labels)]}\n",
    ),
    "verifiers": (
        "f",
        "async def f(completion, answer, state, info, parser):\n"
        "    assert state['question'] == 'What is 6 * 7?' and info['level'] == 3\n"
        "    said = parser.parse_answer(completion)\n"
        "    return float(completion[-1]['content'] == answer == said)\n",
    ),
    "nemo": (
        "f",
        "def f(ground_truth: str, response: str, **kwargs):\n"
        "    return float(ground_truth == response), None\n",
    ),
    "rllm": (
        "Math",
        "from dataclasses import dataclass\n@dataclass\nclass Out:\n    reward: float\n"
        "@dataclass\nclass Config:\n    right: float = 1.0\n"
        "class Math:\n    def __init__(self, config: Config):\n        self.config = config\n"
        "    def __call__(self, task_info: dict, action: str):\n"
        "        return Out(self.config.right * (task_info['ground_truth'] == action))\n",
    ),
    "skyrl": (
        "Env",
        "class Env:\n    def __init__(self, env_config, extras):\n"
        "        self.truth = extras['reward_spec']['ground_truth']\n"
        "    def init(self, prompt):\n        self.prompt = prompt\n"
        "    def step(self, action):\n        assert self.prompt[0]['role'] == 'user'\n"
        "        return {'reward': float(action == self.truth), 'done': True}\n",
    ),
    "reasoning_gym": (
        "Data.score_answer",
        "class Config:\n    size = 5\nclass Data:\n"
        "    def __init__(self, config: Config, seed=None):\n        self.size = config.size\n"
        "    def score_answer(self, answer, entry):\n"
        "        assert entry['metadata'] == {'difficulty': 1} and self.size == 5\n"
        "        return 1.0 if answer == entry['answer'] else 0.01\n",
    ),
    "inspect": (
        "exact",
        "from inspect_ai.scorer import scorer, Target, Score, accuracy\n"
        "class Value:\n    def __init__(self, value): self.value = value\n"
        "@scorer(metrics=[accuracy()])\ndef exact(strict: bool = True):\n"
        "    async def score(state, target):\n"
        "        return Value('C' if state.output.completion == target.text else 'I')\n"
        "    return score\n",
    ),
    "ms_swift": (
        "Exact",
        "from swift.plugin import ORM\nclass Exact(ORM):\n"
        "    def __call__(self, completions, solution, **kwargs):\n"
        "        return [float(c == s) for c, s in zip(completions, solution)]\n",
    ),
    "tinker": (
        "Env.check_answer",
        "class Env:\n    def __init__(self, problem: str, answer: str, renderer, more=None):\n"
        "        self.answer = answer\n"
        "    def check_answer(self, sample_str: str) -> bool:\n"
        "        return sample_str == self.answer\n",
    ),
    "areal": (
        "f",
        "def f(prompt, completions, prompt_ids, completion_ids, answer, **kwargs):\n"
        "    return int(completions == answer)\n",
    ),
    "lm_eval": (
        "process_results",
        "def process_results(doc, results):\n"
        "    return {'exact_match': int(results[0] == doc['answer'])}\n",
    ),
    "atropos": (
        "Exact",
        "class RewardFunction: pass\nclass Exact(RewardFunction):\n"
        "    def compute(self, completions, answer=None, **kwargs):\n"
        "        return [float(c[-1]['content'] == a) for c, a in zip(completions, answer)]\n",
    ),
    "open_instruct": (
        "Exact",
        "class Result:\n    def __init__(self, score): self.score = score\n"
        "class Exact:\n"
        "    def __call__(self, tokenized_prediction, prediction, label, query=None):\n"
        "        return Result(float(prediction == label))\n",
    ),
    "ifeval": (
        "Exact",
        "class Exact:\n    def __init__(self, instruction_id): self.id = instruction_id\n"
        "    def build_description(self, *, level=None): self.level = level\n"
        "    def check_following(self, value): return value == '42' and self.level == 3\n",
    ),
    "plain": (
        "grade",
        "def grade(ground_truth, model_output, level):\n"
        "    return ground_truth == model_output and level == 3\n",
    ),
    "plain_predict_first": ("f", "def f(a, b, /):\n    return (a == b and b == '42', 'note')\n"),
}


def _subject(tmp_path: Path, entry: str, source: str, pool: Pool) -> FunctionSubject:
    (tmp_path / "rewards.py").write_text(source)
    target = find_target(f"{tmp_path / 'rewards.py'}:{entry}")
    return FunctionSubject("it", target, detect(target), (PROBLEM,), backend=pool)


class TestEachSignature:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", quick_ones(CASES, list(CASES)[::3]))
    def test_it_is_detected_and_called(self, tmp_path: Path, pool: Pool, name: str) -> None:
        subject = _subject(tmp_path, *CASES[name], pool=pool)
        assert subject.signature.name == name
        right, wrong = subject.score([Query(PROBLEM, "42"), Query(PROBLEM, "41")])
        assert right.value == 1.0, right
        assert wrong.value is not None, wrong
        assert wrong.value < 0.5

    def test_every_name_has_a_case(self) -> None:
        assert set(CASES) | {"script"} == set(NAMES)

    @pytest.mark.parametrize("name", sorted(set(CASES) - {"ifeval"}))
    def test_its_answer_is_seen(self, tmp_path: Path, name: str) -> None:
        entry, source = CASES[name]
        (tmp_path / "rewards.py").write_text(source)
        assert detect(find_target(f"{tmp_path / 'rewards.py'}:{entry}")).sees_answer


def _detect(tmp_path: Path, source: str, entry: str = "f") -> Signature:
    (tmp_path / "m.py").write_text(source)
    return detect(find_target(f"{tmp_path / 'm.py'}:{entry}"))


class TestDetails:
    def test_a_form_only_reward_sees_no_answer(self, tmp_path: Path) -> None:
        source = (
            "def f(completions, **kwargs):\n    return [float('<a>' in c) for c in completions]\n"
        )
        assert _detect(tmp_path, source).sees_answer is False

    def test_only_a_reward_of_form_may_leave_its_answer_alone(self, tmp_path: Path) -> None:
        source = "def {}(completion, answer):\n    return float(len(completion) > 3)\n"
        named = _detect(tmp_path, source.format("length_reward"), "length_reward")
        assert named.sees_answer is False
        assert _detect(tmp_path, source.format("f")).sees_answer is True

    def test_columns_are_found_in_what_is_left_over(self, tmp_path: Path) -> None:
        source = "def f(completions, **kw):\n    return [completions[0] == kw['gold'][0]]\n"
        found = _detect(tmp_path, source)
        assert found.columns == {"gold"}
        assert plan_call(found, PROBLEM, "42")["kwargs"]["gold"] == ["data", ["42"]]

    def test_helpers_show_that_completions_are_messages(self, tmp_path: Path) -> None:
        source = (
            "def text(c):\n    return c[0]['content']\n"
            "def f(completions, answer):\n    return [text(completions[0]) == answer[0]]\n"
        )
        assert _detect(tmp_path, source).chat

    def test_messages_of_the_prompt_say_nothing_of_completions(self, tmp_path: Path) -> None:
        source = (
            "def f(prompts, completions):\n    q = prompts[0][-1]['content']\n    return [0.0]\n"
        )
        found = _detect(tmp_path, source)
        assert (found.chat, found.chat_prompt) == (False, True)

    def test_an_answer_beside_a_truth_is_the_completion(self, tmp_path: Path) -> None:
        found = _detect(
            tmp_path, "def f(answer, ground_truth):\n    return answer == ground_truth\n"
        )
        kwargs = plan_call(found, PROBLEM, "41")["kwargs"]
        assert kwargs == {"answer": ["data", "41"], "ground_truth": ["data", "42"]}

    def test_early_recipes_get_their_marker(self, tmp_path: Path) -> None:
        source = (
            "def f(solution_str, ground_truth):\n    if 'Assistant:' in solution_str:\n"
            "        return solution_str.split('Assistant:')[1].strip() == ground_truth\n"
        )
        plan = plan_call(_detect(tmp_path, source), PROBLEM, "42")
        assert plan["kwargs"]["solution_str"][1].endswith("\nAssistant: 42")

    def test_a_column_of_the_row_wins_over_a_name(self, tmp_path: Path) -> None:
        found = _detect(tmp_path, "def f(completion, ground_truth):\n    return ground_truth\n")
        problem = AuditProblem("p", "?", "42", extra={"ground_truth": {"target": ["42"]}})
        assert plan_call(found, problem, "")["kwargs"]["ground_truth"][1] == {"target": ["42"]}

    def test_the_auditors_own_columns_stay_with_it(self, tmp_path: Path) -> None:
        found = _detect(tmp_path, "def f(completions, **kwargs):\n    return [0.0]\n")
        problem = AuditProblem("p", "?", "42", extra={"wrong": ["41"], "level": 1})
        assert set(plan_call(found, problem, "")["kwargs"]) >= {"completions", "level", "answer"}
        assert "wrong" not in plan_call(found, problem, "")["kwargs"]

    def test_a_signature_can_be_named(self, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text("def f(a, b):\n    return a == b\n")
        target = find_target(f"{tmp_path / 'm.py'}:f")
        found = detect(target, name="nemo")
        assert plan_call(found, PROBLEM, "41")["kwargs"] == {
            "a": ["data", "42"],
            "b": ["data", "41"],
        }
        with pytest.raises(UnknownNameError, match="did you mean verl"):
            detect(target, name="verll")

    def test_a_function_without_arguments_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="takes no arguments"):
            _detect(tmp_path, "def f():\n    return 1.0\n")


def test_an_instance_of_a_class_is_called_by_the_signature_of_its_own_call(tmp_path: Path) -> None:
    file = tmp_path / "grader.py"
    file.write_text(
        "class Grader:\n"
        "    def score(self, state):\n        return 0.0\n"
        "    def __call__(self, response, answer, level):\n"
        "        return float(response == answer and level == 3)\n"
        "    def other(self, given, gold):\n        return 0.0\n"
        "grade = Grader()\n"
    )
    signature = detect(find_target(f"{file}:grade"))
    assert signature.positional == ("response", "answer", "level")
    assert set(plan_call(signature, PROBLEM, "42")["kwargs"]) == {"response", "answer", "level"}
    assert detect(find_target(f"{file}:grade.other")).positional == ("given", "gold")


def test_a_value_that_is_tested_for_its_type_is_no_completion(tmp_path: Path) -> None:
    source = (
        "def same(left, right):\n    return isinstance(left, list) == isinstance(right, list)\n"
        "def f(completions, gold, **kwargs):\n"
        "    return [float(same(m[-1]['content'], g)) for m, g in zip(completions, gold)]\n"
    )
    assert _detect(tmp_path, source).chat


@pytest.mark.parametrize(
    ("entry", "about"),
    [
        ("format_reward", True),
        ("think_tags", True),
        ("reward_len", True),
        ("short_reply", True),
        ("countdown_reward", False),
        ("formula_score", False),
        ("shortest_path", False),
        ("language_score", True),
    ],
)
def test_only_whole_words_or_their_usual_beginnings_speak_of_form(entry: str, about: bool) -> None:
    assert is_about_form(entry) is about


@pytest.mark.parametrize(
    ("made", "positional", "keywords"),
    [
        ("functools.partial(_score, arrow='->')", ("prompts", "completions", "skeleton"), ()),
        ("partial(_score, [])", ("completions", "skeleton", "arrow"), ()),
        ("functools.partial(_score, skeleton='x')", ("prompts", "completions"), ("arrow",)),
    ],
)
def test_what_a_partial_binds_is_no_parameter(
    tmp_path: Path, made: str, positional: tuple[str, ...], keywords: tuple[str, ...]
) -> None:
    path = tmp_path / "reward.py"
    path.write_text(
        "import functools\nfrom functools import partial\n\n"
        "def _score(prompts, completions, skeleton, arrow='='):\n"
        "    return [1.0 for _ in completions]\n\n"
        f"reward = {made}\n"
    )
    shape = detect(find_target(f"{path}:reward"))
    assert (shape.positional, shape.keywords) == (positional, keywords)
