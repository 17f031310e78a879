"""A call of a reward function as plain data: what `reward.call` is told to pass.

Covered: positional and keyword arguments by the signature, columns of the row by parameter name,
chat messages, objects of the frameworks as recipes (`reward.framework_objects`), constructor
arguments.
Not covered: whether the function likes them; a run tells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from unhack.audit.subject import AuditProblem, record_of
from unhack.audit.subjects.parameter_names import ANSWER, COMPLETION, PROMPT
from unhack.audit.subjects.signatures import PARAMETERS, Signature

PRIVATE = frozenset({"correct", "wrong", "calls", "entry_point", "id"})
"""Columns of a problem's row that are the auditor's own."""
Items = dict[str, list[Any]]
_PLURAL = frozenset(name for name in COMPLETION | ANSWER | PROMPT if name.endswith("s")) - {"s"}
BATCHES = {"trl", "open_r1", "verl_batch", "openrlhf", "ms_swift", "atropos"}
"""Frameworks that hand over many completions in one call."""
_QUIET = {"plain", "plain_predict_first", "verl", "nemo", "tinker", "script"}
"""Frameworks that put nothing into `**kwargs` on their own."""


def plan_call(signature: Signature, problem: AuditProblem, completion: str) -> dict[str, Any]:
    """`{"args", "kwargs", "pool", "before"}`: one call, as `reward.call` reads it."""
    values = _Values(signature, problem, completion)
    args: list[list[Any]] = []
    kwargs: dict[str, list[Any]] = {}
    given = {signature.role_of(name) or name for name in signature.positional}
    order = iter(
        name
        for name in PARAMETERS[signature.name]
        if (signature.role_of(name) or name) not in given
    )
    for index, name in enumerate((*signature.positional, *signature.keywords)):
        item = values.of(name)
        if item is None and name in signature.required:
            stand_for = next(order, None) if index < len(signature.positional) else None
            item = (values.of(stand_for) if stand_for else None) or ["data", None]
        if item is None:
            continue
        if index < signature.positional_only:
            args.append(item)
        else:
            kwargs[name] = item
    if signature.takes_more:
        kwargs = {**values.columns(), **kwargs}
    pool, before = values.instance()
    return {"args": args, "kwargs": kwargs, "pool": pool, "before": before}


def value_for(signature: Signature, problem: AuditProblem, name: str) -> list[Any] | None:
    """The item that a parameter or column of `**kwargs` is given; None for nothing."""
    return _Values(signature, problem, "").of(name)


def column_of(problem: AuditProblem, name: str) -> Any:
    """The value of a column; with a dot in the name, of a key within one. None for no such."""
    if name in problem.extra or "." not in name:
        return problem.extra.get(name)
    outer, _, key = name.partition(".")
    return record_of(problem.extra.get(outer)).get(key)


class _Values:
    """The values that a framework would hand over for one completion."""

    def __init__(self, signature: Signature, problem: AuditProblem, completion: str) -> None:
        self.signature = signature
        self.problem = problem
        self.answer: Any = problem.extra.get("answer", problem.answer)
        self.extra = {k: v for k, v in problem.extra.items() if k not in PRIVATE | {"answer"}}
        text = signature.template.replace("{prompt}", problem.prompt)
        self.text = text.replace("{completion}", completion)
        self.raw = completion
        self.batch = signature.name in BATCHES
        prompt = problem.prompt
        self.prompt: Any = (
            [{"role": "user", "content": prompt}] if signature.chat_prompt else prompt
        )
        self.completion: Any = self.text
        if signature.chat:
            self.completion = [{"role": "assistant", "content": self.text}]
        self.special = _SPECIAL.get(signature.name, _nothing)(self)

    def of(self, name: str) -> list[Any] | None:
        """The item for a parameter; None for one that means nothing here."""
        role = dict(self.signature.roles).get(name, "")
        if role.startswith("="):
            return self._data(self._bound(role[1:]), name, whole=role == "=row" and not self.many)
        if name in self.special:
            return self.special[name]
        if name == self.signature.completion_in:
            return self._data(self.completion, name)
        if name in self.extra:
            return self._data(self.extra[name], name, whole=not self.many)
        if name == "calls" and name in self.problem.extra:
            return self._data(self.problem.extra[name], name, whole=not self.many)
        if name == "entry_point" and self.problem.entry_point:
            return self._data(self.problem.entry_point, name)
        role = self.signature.role_of(name)
        if role:
            return self._data(self._bound(role), name)
        if name == "metadata":
            return self._data(dict(self.extra), name)
        return None

    def _bound(self, role: str) -> Any:
        """The value of a role (`Signature.roles`)."""
        if role == "row":
            return self.row()
        if role.startswith("column "):
            return column_of(self.problem, role.removeprefix("column "))
        return {"completion": self.completion, "answer": self.answer, "prompt": self.prompt}[role]

    @property
    def many(self) -> bool:
        """True when the function takes a batch of completions."""
        names = (*self.signature.positional, *self.signature.keywords)
        return any(name in _PLURAL and name in COMPLETION for name in names)

    def _data(self, value: Any, name: str, *, whole: bool = False) -> list[Any]:
        plural = name in _PLURAL and self.signature.name == "plain" and not whole
        plural = plural and name not in self.signature.single
        wrapped: Any = [value] if self.batch or plural else value
        messages = value is self.completion and self.signature.chat
        return ["make", "record", wrapped] if messages else ["data", wrapped]

    def columns(self) -> dict[str, list[Any]]:
        """The items of `**kwargs`: the row's columns, and the answer by the name it is sought."""
        if self.signature.name in _QUIET:
            wanted = self.signature.columns
        else:
            wanted = self.signature.columns | set(self.extra) | {"answer"}
        taken = {*self.signature.positional, *self.signature.keywords}
        found = {name: self.of(name) for name in wanted - taken}
        common = ("prompts", "completion_ids") if self.signature.name in {"trl", "open_r1"} else ()
        found |= {name: self.of(name) for name in common if name not in taken}
        return {name: item for name, item in found.items() if item is not None}

    def row(self) -> dict[str, Any]:
        """The row of a data set."""
        named = {"question": self.problem.prompt, "prompt": self.problem.prompt}
        return {**named, "problem": self.problem.prompt, "answer": self.answer, **self.extra}

    def instance(self) -> tuple[dict[str, Any], list[list[Any]]]:
        """Named values for a constructor or a factory, and methods to be called first."""
        pool = {**dict.fromkeys(ANSWER, self.answer), **dict.fromkeys(PROMPT, self.problem.prompt)}
        pool |= {"instruction_id": "audit:1", **self.extra}
        if self.signature.name == "skyrl":
            truth = {"ground_truth": self.extra.get("ground_truth", self.answer)}
            pool["extras"] = {
                "reward_spec": {"method": "rule", **truth},
                "max_turns": 1,
                **self.row(),
            }
            return pool, [["init", [[{"role": "user", "content": self.problem.prompt}]], {}]]
        if self.signature.name == "ifeval":
            return self.extra, [["build_description", [], {}]]
        if self.signature.name in {"plain", "plain_predict_first"} and self.signature.factory:
            return self.extra, []
        return pool, []


def _nothing(values: _Values) -> Items:
    return {}


def _verl(values: _Values) -> Items:
    info = {
        "question": values.problem.prompt,
        "index": 0,
        "split": "train",
        "answer": values.answer,
    }
    info |= values.extra
    return {
        "data_source": ["data", values.extra.get("data_source", "openai/gsm8k")],
        "extra_info": ["data", values.extra.get("extra_info", info)],
    }


def _verl_batch(values: _Values) -> Items:
    single = _verl(values)
    return {f"{name}s": ["data", [item[1]]] for name, item in single.items()}


def _tokens(text: str) -> list[int]:
    """One rough token for each character."""
    return [ord(letter) % 50_000 for letter in text[:4096]]


def _openrlhf(values: _Values) -> Items:
    return {"queries": ["data", [values.problem.prompt + values.raw]]}


def _trl(values: _Values) -> Items:
    ids = _tokens(values.raw)
    return {"completion_ids": ["data", [ids]], "trainer_state": ["data", None]}


def _ms_swift(values: _Values) -> Items:
    return {"response_token_ids": ["data", [_tokens(values.raw)]]}


def _areal(values: _Values) -> Items:
    prompt, ids = _tokens(values.problem.prompt), _tokens(values.raw)
    found: Items = {"prompt_ids": ["data", prompt], "completion_ids": ["data", ids]}
    return found | {"completions": ["data", values.text]}


def _verifiers(values: _Values) -> Items:
    messages = [{"role": "assistant", "content": values.raw}]
    info, own = values.extra.get("info", values.extra), values.extra.get("state")
    state = {**values.row(), "completion": messages, "info": info, "turn": 1, "task": "audit"}
    state |= {"responses": [], "trajectory": []}
    task = {**values.row(), "data": values.row(), "info": info}
    trace = {**state, "messages": messages, "last_reply": values.raw, "final_answer": values.raw}
    return {
        "info": ["data", info],
        # A column of the row of that name is the environment's own.
        "state": ["data", own] if own is not None else ["make", "record", state],
        "task": ["make", "record", task],
        "trace": ["make", "record", trace],
        "parser": ["make", "parser", {}],
    }


def _rllm(values: _Values) -> Items:
    row = {"ground_truth": values.answer, "data_source": "audit", **values.row()}
    steps = [{"model_response": values.raw, "action": values.raw, "reward": 0.0}]
    trajectory = {"steps": steps, "messages": [{"role": "assistant", "content": values.raw}]}
    trajectory |= {"output": values.raw, "response": values.raw, "answer": values.raw}
    episode = {**trajectory, "trajectories": [trajectory], "artifacts": {"answer": values.raw}}
    return {
        "task_info": ["make", "record", row],
        "metadata": ["make", "record", row],
        "task": ["make", "record", {**row, "metadata": row}],
        "trajectory": ["make", "record", trajectory],
        "episode": ["make", "record", episode],
    }


def _reasoning_gym(values: _Values) -> Items:
    metadata = values.extra.get("metadata", {})
    entry = {"question": values.problem.prompt, "answer": values.answer, "metadata": metadata}
    return {"answer": ["data", values.raw], "entry": ["data", values.extra.get("entry", entry)]}


def _lm_eval(values: _Values) -> Items:
    return {"doc": ["data", {**values.row(), "target": values.answer}],
            "results": ["data", [values.raw]]}  # fmt: skip


def _inspect(values: _Values) -> Items:
    prompt = values.problem.prompt
    messages = [{"role": "user", "content": prompt, "text": prompt},
                {"role": "assistant", "content": values.raw, "text": values.raw}]  # fmt: skip
    state = {
        "input": prompt, "input_text": prompt, "user_prompt": messages[0], "messages": messages,
        "output": {"completion": values.raw, "stop_reason": "stop"}, "target": values.answer,
        "metadata": dict(values.extra), "choices": values.extra.get("choices", []), "store": {},
    }  # fmt: skip
    target = values.extra.get("target", values.answer or "")
    return {"state": ["make", "state", state], "target": ["make", "target", target]}


def _open_instruct(values: _Values) -> Items:
    return {"tokenized_prediction": ["data", _tokens(values.raw)], "rollout_state": ["data", {}]}


_SPECIAL: Mapping[str, Callable[[_Values], Items]] = {
    "verl": _verl, "verl_batch": _verl_batch, "openrlhf": _openrlhf, "trl": _trl,
    "open_r1": _trl, "areal": _areal, "verifiers": _verifiers, "rllm": _rllm,
    "reasoning_gym": _reasoning_gym, "lm_eval": _lm_eval, "inspect": _inspect,
    "open_instruct": _open_instruct, "ms_swift": _ms_swift,
}  # fmt: skip
