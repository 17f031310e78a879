"""Single files of the frameworks, without their packages: the function loads and tells right from
wrong."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from unhack.audit.subject import Query
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.loading import load_subject
from unhack.sandbox.pool.pool import Pool

pytestmark = pytest.mark.slow

ROW = {"prompt": "How many rolls are there?", "answer": "72", "correct": ["<answer>72</answer>"]}
TAGGED = """
import re

def tagged(text):
    found = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
    return found[-1].strip() if found else ""
"""
FILES = {
    "trl": """
        from trl import GRPOTrainer
        from tests.unit.audit.import_utils import is_re_available
        model, tokenizer = load_model()
        def reward(completions, answer, **kwargs):
            if not is_re_available():
                raise ImportError("re")
            texts = [one[0]["content"] for one in completions]
            return [2.0 if tagged(text) == one else 0.0 for text, one in zip(texts, answer)]
        trainer = GRPOTrainer(model=model, reward_funcs=[reward])
        trainer.train()
        """,
    "endless": """
        while True:
            pass
        def reward(completions, answer):
            return [float(tagged(text) == one) for text, one in zip(completions, answer)]
        """,
    "verl_batch": """
        def reward(data_sources, solution_strs, ground_truths, extra_infos=None):
            return [{"score": float(tagged(a) == b)} for a, b in zip(solution_strs, ground_truths)]
        """,
    "data_source": """
        def reward(data_source, solution_str, ground_truth, extra_info=None):
            if data_source == "somebody/tags":
                return float(tagged(solution_str) == ground_truth)
            raise NotImplementedError(data_source)
        """,
    "openrlhf": """
        import torch
        def reward(queries, prompts, labels, **kwargs):
            scores = [float(tagged(a[len(b):]) == c) for a, b, c in zip(queries, prompts, labels)]
            return {"rewards": scores, "scores": scores, "extra_logs": {}}
        """,
    "nemo": """
        def reward(ground_truth, response):
            return float(tagged(response) == ground_truth), tagged(response) == ground_truth
        """,
    "rllm": """
        from rllm.rewards.reward_types import RewardOutput
        def reward(task_info, action):
            right = tagged(action) == task_info["ground_truth"]
            return RewardOutput(reward=float(right), is_correct=right)
        """,
    "target_dict": """
        def reward(solution_str, ground_truth):
            return 1 if tagged(solution_str) in ground_truth["target"] else 0
        """,
    "names": """
        def reward(model_response, gt_answer, fast=False, correct_reward=1.0):
            return {"formatted": True}, correct_reward * (tagged(model_response) == gt_answer)
        """,
    "single": """
        def reward(completions: str, answer: str) -> float:
            return float(tagged(completions) == answer)
        """,
    "async": """
        async def reward(prompt, completions, prompt_ids, completion_ids, answer, **kwargs):
            return float(tagged(completions) == answer)
        """,
    "tensor_like": """
        class Value:
            def __init__(self, number):
                self.number = number
            def item(self):
                return self.number
        def reward(completion, answer):
            return Value(float(tagged(completion) == answer))
        """,
    "processes": """
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        def work(text, answer, found):
            found.append(float(tagged(text) == answer))
        def reward(completion, answer):
            found = multiprocessing.Manager().list()
            process = multiprocessing.Process(target=work, args=(completion, answer, found))
            process.start()
            process.join(timeout=5)
            context = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
                return pool.submit(float, found[0]).result(timeout=5)
        """,
}
CLASSES = {
    "ms_swift": """
        from swift.rewards import ORM
        class Reward(ORM):
            def __init__(self, args=None):
                self.top = args.cosine_max_value_correct
            def __call__(self, completions, solution, **kwargs):
                right = [tagged(a) == b for a, b in zip(completions, solution)]
                return [self.top if one else 0.0 for one in right]
        """,
    "atropos": """
        from atroposlib.envs.reward_fns import RewardFunction
        class Reward(RewardFunction):
            def compute(self, completions, answer=None, **kwargs):
                return [float(tagged(a) == b) for a, b in zip(completions, answer)]
        """,
    "open_instruct": """
        from dataclasses import dataclass
        from open_instruct import logger_utils
        logger = logger_utils.setup_logger(__name__)
        @dataclass
        class Result:
            score: float
        class Reward(VerifierFunction := object):
            def __init__(self, verifier_config=None):
                self.config = verifier_config
            def __call__(self, tokenized_prediction, prediction, label, query=None):
                return Result(score=float(tagged(prediction) == label))
        """,
    "skyrl": """
        from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
        class Reward(BaseTextEnv):
            def __init__(self, env_config, extras={}):
                super().__init__()
                self.truth = extras["reward_spec"]["ground_truth"]
            def step(self, action):
                reward = float(tagged(action) == self.truth)
                return BaseTextEnvStepOutput(observations=[], reward=reward, done=True, metadata={})
        """,
}


def _subject(folder: Path, pool: Pool, source: str, entry: str) -> FunctionSubject:
    (folder / "rewards.py").write_text(TAGGED + textwrap.dedent(source))
    (folder / "rows.jsonl").write_text(json.dumps({**ROW, "solution": "72"}))
    name = f"{folder / 'rewards.py'}:{entry}"
    subject = load_subject(name, problems=folder / "rows.jsonl", backend=pool)
    assert isinstance(subject, FunctionSubject)
    return subject


def _tells_apart(subject: FunctionSubject) -> bool:
    """True when the right answer is paid, another is not, and the answer was handed over."""
    [problem] = subject.problems
    right, wrong = subject.score([Query(problem, text) for text in (problem.correct[0], "72.5")])
    return (right.value or 0) > 0 and not wrong.value and subject.sees_answer


@pytest.mark.parametrize("name", [name for name in FILES if name != "endless"])
@pytest.mark.slow
def test_a_function_loads_without_its_framework(name: str, tmp_path: Path, pool: Pool) -> None:
    assert _tells_apart(_subject(tmp_path, pool, FILES[name], "reward"))


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_loads_without_its_framework(name: str, tmp_path: Path, pool: Pool) -> None:
    assert _tells_apart(_subject(tmp_path, pool, CLASSES[name], "Reward"))


@pytest.mark.slow
def test_a_notebook_gives_its_code(tmp_path: Path, pool: Pool) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# A reward"]},
        {"cell_type": "code", "source": ["%%capture\n", "!pip install x\n", "import torch"]},
        {"cell_type": "code", "source": TAGGED},
        {"cell_type": "code", "source": "def f(completion, answer):\n"
                                        "    return float(tagged(completion) == answer)"},
    ]  # fmt: skip
    (tmp_path / "train.ipynb").write_text(json.dumps({"cells": cells}))
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW))
    name = f"{tmp_path / 'train.ipynb'}:f"
    subject = load_subject(name, problems=tmp_path / "rows.jsonl", backend=pool)
    assert isinstance(subject, FunctionSubject)
    assert _tells_apart(subject)


@pytest.mark.slow
def test_a_file_called_like_a_package_it_needs_does_not_hide_it(tmp_path: Path, pool: Pool) -> None:
    source = "from math_verify.parser import parse\ndef f(completion, answer):\n    return 1.0\n"
    (tmp_path / "math_verify.py").write_text(source)
    subject = load_subject(f"{tmp_path / 'math_verify.py'}:f", backend=pool)
    [score] = subject.score([Query(subject.problems[0], "1")])
    assert score.value == 1.0


def test_a_package_without_its_framework_imports_what_lies_beside_it(
    tmp_path: Path, pool: Pool
) -> None:
    folder = tmp_path / "kinds"
    folder.mkdir()
    (folder / "tags.py").write_text(TAGGED)
    (folder / "__init__.py").write_text(
        "from absent.deeper import thing\n\ndef reward(completion, answer):\n"
        "    from . import tags\n\n    return float(tags.tagged(completion) == answer)\n"
    )
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW))
    name = f"{folder / '__init__.py'}:reward"
    subject = load_subject(name, problems=tmp_path / "rows.jsonl", backend=pool)
    assert isinstance(subject, FunctionSubject)
    assert _tells_apart(subject)


@pytest.mark.long
def test_a_top_level_that_never_ends_is_left_out(tmp_path: Path, pool: Pool) -> None:
    subject = _subject(tmp_path, pool, FILES["endless"], "reward")
    assert subject.loaded.how == "slice:"
    assert _tells_apart(subject)


def test_an_instruction_checker_is_built_before_it_is_asked(tmp_path: Path, pool: Pool) -> None:
    source = textwrap.dedent(
        """
        import langdetect
        class Keyword:
            def __init__(self, instruction_id):
                self.id = instruction_id
            def build_description(self, *, keyword=None):
                self.keyword = keyword
            def check_following(self, value):
                return self.keyword in value
        """
    )
    (tmp_path / "instructions.py").write_text(source)
    row = {"prompt": "Use the word tulip.", "keyword": "tulip", "correct": ["A tulip."]}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    name = f"{tmp_path / 'instructions.py'}:Keyword"
    subject = load_subject(name, problems=tmp_path / "rows.jsonl", backend=pool)
    queries = [Query(subject.problems[0], text) for text in ("A tulip.", "A rose.")]
    assert [score.value for score in subject.score(queries)] == [1.0, 0.0]


@pytest.mark.parametrize(("entry", "sees"), [("run_score", True), ("format_reward", False)])
def test_a_column_of_programs_is_what_they_are_checked_with(
    tmp_path: Path, pool: Pool, entry: str, sees: bool
) -> None:
    (tmp_path / "rewards.py").write_text(
        f"def {entry}(completion, asserts):\n    return float('def' in completion)\n"
    )
    row = {"prompt": "Write inc(n).", "entry_point": "inc", "asserts": ["assert inc(1) == 2"]}
    row |= {"correct": ["def inc(n):\n    return n + 1\n"]}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    name = f"{tmp_path / 'rewards.py'}:{entry}"
    subject = load_subject(name, problems=tmp_path / "rows.jsonl", backend=pool)
    assert subject.sees_answer is sees


def test_a_column_called_state_is_that_of_the_row(tmp_path: Path, pool: Pool) -> None:
    (tmp_path / "rewards.py").write_text(
        "def device_score(completion, answer, state):\n    return float(state['lamp'] == 'on')\n"
    )
    row = {**ROW, "state": {"lamp": "on"}}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    name = f"{tmp_path / 'rewards.py'}:device_score"
    subject = load_subject(name, problems=tmp_path / "rows.jsonl", backend=pool)
    [score] = subject.score([Query(subject.problems[0], "<answer>72</answer>")])
    assert score.value == 1.0, score


def test_the_calls_of_a_row_are_handed_over_where_a_parameter_asks(
    tmp_path: Path, pool: Pool
) -> None:
    (tmp_path / "rewards.py").write_text(
        "def call_score(completion, entry_point, calls):\n"
        "    scope = {}\n    exec(completion, scope)\n"
        "    good = [scope[entry_point](*one['args']) == one['expected'] for one in calls]\n"
        "    return float(all(good))\n"
    )
    row = {"prompt": "Write inc(n).", "entry_point": "inc", "calls": [{"args": [1], "expected": 2}]}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    name = f"{tmp_path / 'rewards.py'}:call_score"
    subject = load_subject(name, problems=tmp_path / "rows.jsonl", backend=pool)
    texts = [f"def inc(n):\n    return n + {step}\n" for step in (1, 2)]
    right, wrong = subject.score([Query(subject.problems[0], text) for text in texts])
    assert (right.value, wrong.value) == (1.0, 0.0), right
