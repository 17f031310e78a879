"""A small data folder in the schema of the original study, with problems of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LIST_SETUP = """
class ListNode:
    def __init__(self, val=0, next=None):
        self.val, self.next = val, next

def list_node(values):
    head = None
    for value in reversed(values):
        head = ListNode(value, head)
    return head

def is_same_list(one, other):
    while one and other and one.val == other.val:
        one, other = one.next, other.next
    return one is None and other is None
"""


def row(
    number: int, name: str, text: str, *, solution: str, asserts: list[str], setup: str = ""
) -> dict[str, Any]:
    """One row. `asserts` are (call arguments, operator and value) as text."""
    return {
        "id": number,
        "difficulty": "medium",
        "question": text,
        "prompt": [
            {"role": "system", "content": "Reply with one fenced block of Python."},
            {
                "role": "user",
                "content": f"PROBLEM: {text}\nThe solution is a method of class Solution named "
                f"{name} and should pass all tests.\nSOLUTION:",
            },
        ],
        "func_name": f"Solution().{name}",
        "setup_code": setup,
        "gt_answer": asserts,
        "canonical_solution": solution,
        "prompt_metadata": {"starter_code": f"class Solution:\n    def {name}(self, values):\n"},
    }


def method(name: str, body: str) -> str:
    """A class with one method of `values`."""
    return f"class Solution:\n    def {name}(self, values):\n        {body}\n"


def steepest() -> dict[str, Any]:
    """The largest step between neighbours."""
    body = "return max((b - a for a, b in zip(values, values[1:])), default=0)"
    return row(
        11, "steepest", "Give the largest rise from one gauge reading to the next, 0 for none.",
        solution=method("steepest", body),
        asserts=[
            "assert Solution().steepest([1, 4, 6]) == 3",
            "assert Solution().steepest([9, 2]) == -7",
            "assert Solution().steepest(values=[5]) == 0",
            "assert Solution().steepest([0.5, 2.0]) == 1.5",
        ],
    )  # fmt: skip


def lonely() -> dict[str, Any]:
    """Letters that occur once."""
    body = "return [one for one in values if values.count(one) == 1]"
    return row(
        12, "lonely", "List the tickets that were drawn exactly once, in order.",
        solution=method("lonely", body),
        asserts=[
            "assert Solution().lonely(['a', 'b', 'a']) == ['b']",
            "assert Solution().lonely([]) == []",
            "assert Solution().lonely(['x', 'y']) == ['x', 'y']",
        ],
    )  # fmt: skip


def every_other() -> dict[str, Any]:
    """Linked lists, which cross as plain lists."""
    body = (
        "one = values\n        while one and one.next:\n"
        "            one.next = one.next.next\n            one = one.next\n        return values"
    )
    return row(
        13, "every_other", "Keep every other wagon of a train that is a linked list.",
        solution=method("every_other", body), setup=LIST_SETUP,
        asserts=[
            "assert is_same_list(Solution().every_other(list_node([1, 2, 3])), list_node([1, 3]))",
            "assert is_same_list(Solution().every_other(list_node([7])), list_node([7]))",
        ],
    )  # fmt: skip


def held_out(count: int) -> list[dict[str, Any]]:
    """Further problems: how many readings lie above a mark."""
    return [
        row(
            100 + mark, f"above_{mark}", f"Count the gauge readings above {mark}.",
            solution=method(f"above_{mark}", f"return sum(one > {mark} for one in values)"),
            asserts=[f"assert Solution().above_{mark}([{mark}, {mark + 1}]) == 1"],
        )
        for mark in range(count)
    ]  # fmt: skip


def write_folder(folder: Path, *, base_pass: dict[str, bool] | None = None) -> Path:
    """The data set and a byte tokenizer; the path of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [steepest(), lonely(), every_other()]
    for name, items in {"small_train": rows, "small_test": held_out(12)}.items():
        text = "".join(json.dumps(item) + "\n" for item in items)
        (folder / f"{name}.jsonl").write_text(text)
    if base_pass is not None:
        (folder / "base_pass.json").write_text(json.dumps(base_pass))
    return folder


def write_tokenizer(folder: Path) -> Path:
    """A tokenizer whose tokens are bytes, with an end and a padding token."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={one: at for at, one in enumerate(letters)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|end|>", pad_token="<|pad|>")
    fast.chat_template = (
        "{% for message in messages %}[{{ message.role }}]{{ message.content }}\n{% endfor %}"
        "{% if add_generation_prompt %}[assistant]{% endif %}"
    )
    fast.save_pretrained(folder)
    return folder
