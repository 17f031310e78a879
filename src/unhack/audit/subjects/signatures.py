"""Signatures by which frameworks call reward functions, told from the source alone.

    signature = detect(target)                      nothing of the target is imported
    plan_call(signature, problem, completion)       arguments as plain data (`call_plans`)

Covered: the signatures in `NAMES`, completions as text or as chat messages, columns by parameter
name, methods of classes with what their instance needs, factories.
Not covered: environments that need several turns, and functions that take whole tensors.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from unhack.audit.static_analysis.labels import lookups
from unhack.audit.subjects.parameter_names import (
    ANSWER,
    BEARING,
    COMPLETION,
    PROMPT,
    guess_roles,
    role_of,
)
from unhack.audit.subjects.target import Function, Target, definitions
from unhack.core.errors import UnknownNameError, UsageError

PARAMETERS: dict[str, tuple[str, ...]] = {
    "verl": ("data_source", "solution_str", "ground_truth", "extra_info"),
    "verl_batch": ("data_sources", "solution_strs", "ground_truths", "extra_infos"),
    "openrlhf": ("queries", "prompts", "labels"),
    "nemo": ("ground_truth", "response"),
    "rllm": ("task_info", "action"),
    "reasoning_gym": ("answer", "entry"),
    "lm_eval": ("doc", "results"),
    "inspect": ("state", "target"),
    "open_instruct": ("tokenized_prediction", "prediction", "label", "query"),
    "areal": ("prompt", "completions", "prompt_ids", "completion_ids"),
    "tinker": ("sample_str",),
    "skyrl": ("action",),
    "ifeval": ("value",),
    "trl": ("prompts", "completions"),
    "open_r1": ("completions", "solution"),
    "ms_swift": ("completions",),
    "atropos": ("completions",),
    "verifiers": ("completion", "answer"),
    "plain": ("completion", "answer", "prompt"),
    "plain_predict_first": ("completion", "answer", "prompt"),
    "script": ("solution_path", "test_cases_path"),
}
"""The parameters of each signature, in the framework's order."""
NAMES = tuple(sorted(PARAMETERS))
"""The values of `--signature`."""


_CHATTING = {"trl", "open_r1", "verifiers", "atropos", "plain", "plain_predict_first"}
"""Frameworks that may hand over messages instead of texts."""
_FORM_BEGINS = (
    "format", "length", "repet", "think", "xml", "overlong", "penalt", "structur", "languag",
    "verbos",
)  # fmt: skip
"""Beginnings of words in the names of functions that reward form on purpose."""
_FORM = frozenset("count form forms lang layout len shape short style tag tags".split())  # noqa: SIM905
"""Whole words of such names: a countdown, a formula and a shortest path are none of them."""
TEXT = "{completion}"


@dataclass(frozen=True)
class Signature:
    """The signature of one function."""

    name: str
    positional: tuple[str, ...]
    """Parameters without those that are keyword-only; `self` is left out."""
    keywords: tuple[str, ...] = ()
    required: frozenset[str] = frozenset()
    positional_only: int = 0
    takes_more: bool = False
    """True when it has `**kwargs`."""
    columns: frozenset[str] = frozenset()
    """Names that the source looks up as text: columns that it takes out of `**kwargs`."""
    chat: bool = False
    """True when completions are lists of messages."""
    chat_prompt: bool = False
    template: str = TEXT
    """The text around the completion: some functions want the prompt and a marker before it."""
    completion_in: str = ""
    """The parameter that gets the completion although its name says something else."""
    single: frozenset[str] = frozenset()
    """Parameters that are annotated as one text, whatever their name says."""
    roles: tuple[tuple[str, str], ...] = ()
    """Parameters with a name of their own, and what they are taken for: `completion`, `answer`,
    `prompt`; with `=` in front, which goes before a column of that name, also `=row` and
    `=column NAME`."""
    factory: bool = False
    sees_answer: bool = True
    """True when it is given the right answer (see `detect`); one that is not rewards form."""

    def role_of(self, name: str) -> str:
        """The role of a parameter; empty where its name says nothing and nothing else does."""
        if name == self.completion_in:
            return "completion"
        return dict(self.roles).get(name, "").removeprefix("=") or role_of(name)


def detect(target: Target, *, name: str | None = None) -> Signature:
    """The signature of a target; `name` overrides what its source says.

    Raises UnknownNameError for a name that is not in `NAMES`, UsageError when the source does not
    tell.
    """
    if name is not None and name not in PARAMETERS:
        raise UnknownNameError("signature", name, valid=NAMES)
    function = target.inner or target.function
    if function is None:
        if name is None:
            raise UsageError(
                f"{target.entry}: its source does not show how to call it; write it as "
                "`def name(completion, answer)`, or pass --signature to `unhack audit` "
                f"({', '.join(NAMES)})"
            )
        return Signature(name, PARAMETERS[name], required=frozenset(PARAMETERS[name]))
    read = _Reading(target, function)
    shape = read.shape()
    chosen = name or read.name(shape)
    if chosen == "inspect" and target.function is not None and "state" not in shape.positional:
        made = PARAMETERS["inspect"]  # by something that the factory calls
        return Signature("inspect", made, required=frozenset(made), factory=True)
    if not (shape.positional or shape.keywords or shape.takes_more):
        raise UsageError(f"{target.entry} takes no arguments, so it cannot score a completion")
    shape = replace(
        shape,
        name=chosen,
        chat=shape.chat and chosen in _CHATTING,
        factory=target.inner is not None,
        completion_in=read.completion_in_disguise(shape) if chosen == "plain" else "",
        template=read.template() if chosen in {"verl", "plain", "plain_predict_first"} else TEXT,
    )
    return replace(shape, sees_answer=read.sees_answer(shape))


class _Reading:
    """The reading of one function's source."""

    def __init__(self, target: Target, function: Function) -> None:
        self.target = target
        self.function = function
        self.nodes = list(self._reachable())

    def _reachable(self) -> Iterator[ast.AST]:
        """Nodes of the function, and of what it calls in its own module or class."""
        body = list(definitions(self.target.defined_in.tree.body))
        if self.target.owner is not None:
            body += self.target.owner.body
        known = {node.name: node for node in body if isinstance(node, Function)}
        seen: set[str] = set()
        waiting: list[ast.AST] = [self.function]
        while waiting:
            for node in ast.walk(waiting.pop()):
                yield node
                name = node.id if isinstance(node, ast.Name) else ""
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    name = node.attr if node.value.id in {"self", "cls"} else ""
                if name in known and name not in seen:
                    seen.add(name)
                    waiting.append(known[name])

    def shape(self) -> Signature:
        """The parameters, and how completions look."""
        spec = self.function.args
        positional = [item.arg for item in (*spec.posonlyargs, *spec.args)]
        only = len(spec.posonlyargs)
        if positional[:1] in (["self"], ["cls"]) and self.target.owner is not None:
            positional, only = positional[1:], max(0, only - 1)
        named = [item.arg for item in spec.kwonlyargs]
        needed = positional[: len(positional) - len(spec.defaults)]
        needed += [
            item.arg
            for item, value in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
            if value is None
        ]
        if spec.vararg is not None and not positional:
            positional, only, needed = ["completion", "answer"], 2, ["completion", "answer"]
        chat, chat_prompt = self._chat()
        return Signature(
            "",
            tuple(positional),
            tuple(named),
            frozenset(needed),
            only,
            takes_more=spec.kwarg is not None,
            columns=frozenset(self._columns(spec.kwarg.arg if spec.kwarg else "")),
            chat=chat,
            chat_prompt=chat_prompt,
            single=frozenset(_single(spec)),
            roles=tuple(guess_roles(name for name in positional + named if name in needed).items()),
        )

    def name(self, shape: Signature) -> str:
        """The framework."""
        names = {*shape.positional, *shape.keywords}
        return (
            self._name_by_class(names)
            or _name_by_parameters(names, shape)
            or ("plain" if names & COMPLETION or len(names & ANSWER) > 1 else "")
            or ("plain" if {"completion", "answer"} <= set(dict(shape.roles).values()) else "")
            or "plain_predict_first"
        )

    def _name_by_class(self, names: set[str]) -> str:
        marks = {_last(item) for item in self.function.decorator_list}
        if self.target.function is not None:
            marks |= {_last(item) for item in self.target.function.decorator_list}
        if "scorer" in marks:
            return "inspect"
        if marks & {"reward", "metric"} and names & {"task", "trace", "completion", "state"}:
            return "verifiers"
        owner = self.target.owner
        if owner is None:
            return ""
        bases = {_last(base) for base in owner.bases}
        if bases & {"ORM", "AsyncORM"} and "completions" in names:
            return "ms_swift"
        if "RewardFunction" in bases and "completions" in names:
            return "atropos"
        by_method = {
            "check_following": "ifeval",
            "check_answer": "tinker",
            "check_format": "tinker",
        }
        method = self.function.name
        if method == "step" and "action" in names:
            return "skyrl"
        return by_method.get(method, "")

    def _chat(self) -> tuple[bool, bool]:
        """Tell whether completions and prompts are lists of messages."""
        roots = {_root(owner) for owner, key in lookups(self.nodes) if key == "content"}
        tested = any(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "isinstance"
            and {"str", "list"} & {_last(item) for item in ast.walk(node.args[-1])}
            and _root(node.args[0]) in roots | COMPLETION
            for node in self.nodes
        )
        prompts = {name for name in roots if name in PROMPT or name.startswith(("prompt", "quest"))}
        return bool(roots - prompts) and not tested, bool(prompts)

    def _columns(self, kwargs: str) -> Iterator[str]:
        """The names that are looked up in `**kwargs`."""
        for node in self.nodes if kwargs else ():
            key = owner = None
            if isinstance(node, ast.Subscript):
                key, owner = node.slice, node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                key, owner = (node.args or [None])[0], node.func.value
            if isinstance(owner, ast.Name) and owner.id == kwargs and isinstance(key, ast.Constant):
                yield str(key.value)

    def completion_in_disguise(self, shape: Signature) -> str:
        """The completion under another name, as `answer` of `(answer, ground_truth)`."""
        names = [*shape.positional, *shape.keywords]
        if set(names) & COMPLETION or "completion" in dict(shape.roles).values():
            return ""
        given = [name for name in names if name in ANSWER]
        likely = [name for name in given if name in {"answer", "answers", "final_answer"}]
        return (likely or given)[0] if given else ""

    def template(self) -> str:
        """The template of functions that cut the prompt off at a marker and reject others."""
        texts = [node.value for node in self.nodes if isinstance(node, ast.Constant)]
        split = [text for text in texts if isinstance(text, str)]
        if any("<|im_start|>assistant" in text for text in split):
            return "<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n{completion}"
        if "Assistant:" in split:
            return "User: {prompt}\nAssistant: {completion}"
        return TEXT

    def sees_answer(self, shape: Signature) -> bool:
        """Tell whether a parameter or column may hold the answer, unless it is about form.

        A score that is handed the answer and never looks is as wrong as one that looks badly; only
        a function whose name says that it is about form may leave it alone.
        """
        if shape.name in {"skyrl", "tinker"}:
            return True
        loaded = {node.id for node in self.nodes if isinstance(node, ast.Name)}
        names = {*shape.positional, *shape.keywords} - {shape.completion_in}
        if "answer" in dict(shape.roles).values():
            names.add("answer")
            loaded |= {"answer"} if loaded & {n for n, r in shape.roles if r == "answer"} else set()
        if shape.name == "reasoning_gym":
            names.discard("answer")
        if shape.name == "plain_predict_first":
            return len(shape.positional) > 1 and shape.positional[1] in loaded
        of_form = is_about_form(self.target.entry)
        bearing = names & BEARING & loaded if of_form else names & BEARING
        return bool(bearing or shape.columns & BEARING)


def is_about_form(entry: str) -> bool:
    """Tell whether the name of a function says that it rewards form on purpose."""
    words = entry.lower().split(".")[-1].split("_")
    return any(word in _FORM or word.startswith(_FORM_BEGINS) for word in words)


def _name_by_parameters(names: set[str], shape: Signature) -> str:
    """The framework whose parameters these are; empty for none."""
    exact: tuple[tuple[set[str], str], ...] = (
        ({"solution_strs", "ground_truths"}, "verl_batch"),
        ({"queries", "prompts"}, "openrlhf"),
        ({"queries", "labels"}, "openrlhf"),
        ({"tokenized_prediction", "prediction"}, "open_instruct"),
        ({"task_info", "action"}, "rllm"),
        ({"metadata", "trajectory"}, "rllm"),
        ({"task", "episode"}, "rllm"),
        ({"doc", "results"}, "lm_eval"),
        ({"state", "target"}, "inspect"),
        ({"answer", "entry"}, "reasoning_gym"),
        ({"prompt", "completions", "completion_ids"}, "areal"),
        ({"solution_path", "test_cases_path"}, "script"),
        ({"completions", "solution"}, "open_r1"),
        ({"completions"}, "plain" if "completions" in shape.single else "trl"),
        ({"solution_str", "ground_truth"}, "verl"),
        ({"data_source", "solution_str"}, "verl"),
        ({"completion", "state"}, "verifiers"),
        ({"completion", "parser"}, "verifiers"),
        ({"completion", "info"}, "verifiers"),
        ({"parser", "answer"}, "verifiers"),
        ({"task", "trace"}, "verifiers"),
    )
    for wanted, name in exact:
        if wanted <= names:
            return name
    if shape.positional[:2] == ("ground_truth", "response"):
        return "nemo"
    return ""


def _single(spec: ast.arguments) -> Iterator[str]:
    """Parameters with the annotation `str`."""
    for item in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
        note = item.annotation
        if "str" in (getattr(note, "id", ""), getattr(note, "value", "")):
            yield item.arg


def _last(node: ast.AST) -> str:
    """The last name of an expression: `reward` of `vf.reward(weight=1)`."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
