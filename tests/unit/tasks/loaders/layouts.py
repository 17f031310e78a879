"""One row in the published layout of every data set of the table; all texts here are made up."""

from __future__ import annotations

import json
from typing import Any

ADDER = "print(sum(map(int, input().split())))\n"
TWICE = "def twice(n):\n    return 2 * n\n"
CASES = {"inputs": ["1 2\n", "5 5\n"], "outputs": ["3\n", "10\n"]}
LIST = [{"input": "1 2\n", "output": "3\n"}, {"input": "5 5\n", "output": "10\n"}]
PAIRS = {"input": ["1 2\n", "5 5\n"], "output": ["3\n", "10\n"]}
NONE = {"input": [], "output": []}

ROWS: dict[str, dict[str, Any]] = {
    "leetcode": {
        "task_id": "twice", "question_id": 1, "difficulty": "Easy", "tags": ["Math"],
        "problem_description": "Double n.", "estimated_date": "2024-01-01",
        "starter_code": "class Solution:\n    def twice(self, n: int) -> int:\n        ",
        "prompt": "from typing import *\nfrom math import *\n",
        "completion": "class Solution:\n    def twice(self, n: int) -> int:\n        return 2 * n",
        "entry_point": "Solution().twice",
        "test": "def check(candidate):\n    assert candidate(n = 2) == 4\n",
        "input_output": [{"input": "n = 2", "output": "4"}],
        "query": "Double n, please.", "response": "…",
    },
    "bigcodebench": {
        "task_id": "BigCodeBench/9000", "entry_point": "task_func", "libs": "['math']",
        "complete_prompt": 'import math\ndef task_func(n):\n    """The root of n."""\n',
        "instruct_prompt": "The root of n.", "code_prompt": "import math\ndef task_func(n):\n",
        "canonical_solution": "    return math.sqrt(n)",
        "test": (
            "import unittest\nclass TestCases(unittest.TestCase):\n    def test_four(self):\n"
            "        self.assertAlmostEqual(task_func(4), 2.0)\n    def test_two(self):\n"
            "        self.assertAlmostEqual(task_func(2), math.sqrt(2))\n"
        ),
    },
    "humaneval": {
        "task_id": "HumanEval/900", "prompt": 'def twice(n):\n    """Double n."""\n',
        "entry_point": "twice", "canonical_solution": "    return 2 * n\n",
        "test": "def check(candidate):\n    assert candidate(2) == 4\n",
    },
    "mbpp": {
        "task_id": 900, "text": "Write a function twice.", "code": TWICE, "test_setup_code": "",
        "test_list": ["assert twice(2) == 4", "assert twice(0) == 0"], "challenge_test_list": [],
    },
    "kodcode": {
        "question_id": "k_1", "style": "instruct", "question": "Double n.", "solution": TWICE,
        "test": "from solution import twice\n\ndef test_two():\n    assert twice(2) == 4\n",
        "test_info": [{"function_name": "twice", "function_declaration": "def twice(n):"}],
    },
    "livecodebench": {
        "question_title": "Add", "question_content": "Add.", "platform": "made up",
        "question_id": "l_1", "starter_code": "", "metadata": "{}",
        "public_test_cases": json.dumps([{**test, "testtype": "stdin"} for test in LIST]),
        "private_test_cases": "",
    },
    "taco": {
        "question": "Add.", "solutions": json.dumps([ADDER]), "starter_code": "",
        "input_output": json.dumps(CASES), "difficulty": "EASY", "raw_tags": "[]", "url": "",
    },
    "apps": {
        "problem_id": 3, "question": "Add.", "solutions": json.dumps(["print 3", ADDER]),
        "input_output": json.dumps(CASES), "difficulty": "interview", "starter_code": "",
    },
    "code_contests": {
        "name": "1_A. Add", "description": "Add.", "public_tests": PAIRS, "private_tests": NONE,
        "generated_tests": PAIRS, "source": 2,
        "solutions": {"language": [2, 3], "solution": ["int main() {}", ADDER]},
        "incorrect_solutions": {"language": [], "solution": []},
    },
    "code_contests_plus": {
        "id": "1_A", "title": "Add", "description": "Add.", "test_cases": LIST,
        "checker": "#include <testlib.h>", "generator": "", "validator": "",
        "correct_submissions": [{"language": "py3", "code": ADDER + end} for end in ("", "pass\n")],
        "incorrect_submissions": [],
    },
    "codeforces": {
        "id": "1/A", "title": "Add", "description": "Add.", "input_format": "Two.",
        "output_format": "One.", "note": None, "examples": LIST, "official_tests": LIST,
        "input_mode": "stdio", "generated_checker": None, "interaction_format": None,
        "time_limit": 1.0,
    },
    "deepcoder": {
        "problem": "Add.", "solutions": [f"```python\n{ADDER}```"], "tests": json.dumps(LIST),
    },
    "prime": {
        "source": "made up", "task_type": "verifiable_code", "prompt": "Add.",
        "gold_standard_solution": f"```python\n{ADDER}```", "problem_id": "p_1",
        "verification_info": json.dumps({"language": "python", "test_cases": [
            {**test, "type": "stdin_stdout", "fn_name": None} for test in LIST
        ]}),
    },
    "verl": {
        "data_source": "math_dapo", "ability": "MATH",
        "prompt": [{"role": "user", "content": "1/2? The last line is Answer: $Answer"}],
        "reward_model": {"ground_truth": "1/2", "style": "rule"}, "extra_info": {"index": "d_1"},
    },
    "reasoning_gym": {
        "question": "Convert 3 to base 2.", "answer": "11",
        "metadata": {"source_dataset": "base_conversion", "source_index": 0,
                     "decimal_value": 3, "source_base": 10, "target_base": 2,
                     "source_repr": "3", "target_repr": "11", "difficulty": {}},
    },
    "olympiadbench": {
        "id": 900, "question": "What is $6 \\cdot 7$?", "solution": ["It is 42."],
        "final_answer": ["$42$"], "is_multiple_answer": False, "unit": None,
        "answer_type": "Numerical", "error": None, "question_type": "Open-ended",
    },
    "omni_math": {
        "domain": ["Algebra"], "difficulty": 4.0, "problem": "What is $6 \\cdot 7$?",
        "solution": "Forty two.", "answer": "42", "source": "made up",
    },
    "gsm8k": {"question": "Six crates of seven?", "answer": "6*7 = <<6*7=42>>42 jars.\n#### 42"},
    "numina": {
        "source": "made_up", "problem": "What is $6 \\cdot 7$?",
        "solution": "It is $\\boxed{42}$.", "messages": [],
    },
    "math": {
        "problem": "What is $\\frac{1}{2} + \\frac{1}{4}$?", "level": "Level 1", "type": "Algebra",
        "solution": "The sum is $\\boxed{\\frac{3}{4}}$.",
    },
    "answers": {"ID": "2024-I-90", "Problem": "What is 6 times 7?", "Answer": 42},
}  # fmt: skip
"""By the name of the data set."""
