"""Problems in KernelBench's form: a Python file with `Model`, `get_inputs` and `get_init_inputs`.

    FOLDER/level1/1_name.py, FOLDER/level2/..., or one file

Files are parsed before anything runs; what is missing is named with its file. The reference is run
by the judge and by the processes that stand for it, never beside a submission. Weights are drawn
by the judge: those that `Model` makes, with a little noise, so that a bias of zeros and a scale of
ones are no longer what a submission could leave out. Hidden shapes have a smaller batch, in the
first of three ways that the model accepts: another `batch_size`, fewer rows of all inputs that
share the first one's rows, fewer rows of the first.

Covered: tensors in, one tensor out; buffers; models that behave alike twice.
Not covered: inputs that are no tensors; models that draw random numbers (dropout in training mode).

Source: KernelBench (Ouyang et al. 2025), its problem files.
"""

from __future__ import annotations

import ast
import difflib
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unhack.tournament.kit import UsageError, parse_python

WANTED = {
    "Model": ast.ClassDef, "get_inputs": ast.FunctionDef, "get_init_inputs": ast.FunctionDef,
}  # fmt: skip
_LEVEL = re.compile(r"level(\d+)$")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*$")
"""No dot: one stands between a problem and `hidden` in the names of groups and metrics."""
_SHAKE = 0.1
_DEAD = 1e-6
"""Of the largest gradient: what is smaller may be rounding."""
_DTYPES = (
    "float64", "float32", "float16", "bfloat16", "int64", "int32", "uint8", "int8", "bool",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProblemFile:
    """A file that holds what it must."""

    name: str
    """The file's, without `.py`."""
    level: int
    """Of the folder `levelN` that it lies in; 0 elsewhere."""
    path: Path
    text: str

    def parameters(self) -> list[str]:
        """Names of the inputs of `forward`, in order."""
        [model] = [
            node
            for node in parse_python(self.text).body
            if isinstance(node, ast.ClassDef) and node.name == "Model"
        ]
        forward = _methods(model)["forward"].args
        return [argument.arg for argument in (*forward.posonlyargs, *forward.args)][1:]


def load(place: Path) -> dict[str, ProblemFile]:
    """The problems of a file, a level's folder, or a folder of levels, by name.

    Raises UsageError for what is no problem, for a name that two files have, and where there is
    nothing.
    """
    found: dict[str, ProblemFile] = {}
    for path in _files(place):
        problem = _read(path)
        if problem.name in found:
            other = found[problem.name].path
            raise UsageError(f"{path} has the name of {other}: rename one, submissions go by name")
        found[problem.name] = problem
    return found


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    if not place.is_dir():
        raise UsageError(f"{place} is no file and no folder: give a KernelBench problem or folder")
    if _LEVEL.search(place.name):
        files = sorted(place.glob("*.py"))
    else:
        levels = [folder for folder in place.rglob("level*") if _LEVEL.search(folder.name)]
        files = [path for folder in sorted(levels) for path in sorted(folder.glob("*.py"))]
    files = [path for path in files if path.name != "__init__.py"]
    if not files:
        raise UsageError(f"{place} holds no problem: expected level1/NAME.py, level2/NAME.py, ...")
    return files


def _read(path: Path) -> ProblemFile:
    if not _NAME.match(path.stem):
        raise UsageError(f"{path}: a problem's name has letters, digits, _ and - alone")
    try:
        text = path.read_text(encoding="utf-8")
        tree = parse_python(text)
    except (UnicodeDecodeError, ValueError) as error:
        raise UsageError(f"{path} is no Python text: {error}") from None
    except SyntaxError as error:
        raise UsageError(f"{path}, line {error.lineno}: {error.msg}") from None
    objections = list(_objections(tree))
    if objections:
        raise UsageError(f"{path} is no KernelBench problem: {'; '.join(objections)}")
    seen = _LEVEL.search(path.parent.name)
    return ProblemFile(path.stem, int(seen[1]) if seen else 0, path, text)


def _objections(tree: ast.Module) -> Iterator[str]:
    named = {
        node.name: node
        for node in tree.body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    }
    for name, kind in WANTED.items():
        node = named.get(name)
        word = "class" if kind is ast.ClassDef else "function"
        if node is None:
            near = difflib.get_close_matches(name, named, 1)
            yield f"it has no {word} {name}" + (f" (but {near[0]})" if near else "")
        elif not isinstance(node, kind):
            yield f"its {name} is no {word}"
        elif isinstance(node, ast.FunctionDef) and _needs(node.args):
            yield f"its {name} needs arguments"
        elif isinstance(node, ast.ClassDef) and "forward" not in _methods(node):
            yield "its Model has no forward"


def _needs(arguments: ast.arguments) -> bool:
    positional = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    return positional > 0 or any(default is None for default in arguments.kw_defaults)


def _methods(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}


@dataclass(slots=True)
class LoadedFile:
    """A problem file that was run, in the judge's own process."""

    torch: Any
    problem: ProblemFile
    device: str
    namespace: dict[str, Any]
    init: list[Any]
    weights: dict[str, Any]
    shrink: Callable[[list[Any]], list[Any]] | None = None
    """Makes inputs of the hidden shape out of listed ones; None: there is only one shape."""
    batch: int = 0
    """The hidden `batch_size`, where the file has one."""

    def inputs(self, *, hidden: bool) -> list[Any]:
        """Fresh inputs from PyTorch's global generator."""
        if hidden and self.batch:
            return _drawn(self, batch=self.batch)
        drawn = _drawn(self)
        return self.shrink(drawn) if hidden and self.shrink else drawn

    def truth(self, inputs: list[Any], weights: Mapping[str, Any], *, plain: bool = False) -> Any:
        """The outputs of `Model` for these inputs: in float64, or with `plain` as it is."""
        kind = self.namespace["Model"]
        with self.torch.device(self.device), self.torch.no_grad():
            model = kind(*self.init).to(self.device)
            model = model if plain else model.double()
            model.load_state_dict(weights)
            return model(*inputs)

    def touched(self, inputs: list[Any]) -> float:
        """Bytes of the floating inputs on which the output depends: those with a gradient that is
        more than rounding. 0 where there is none to be had."""
        torch = self.torch
        doubled = [_double(torch, data).requires_grad_(_floats(torch, data)) for data in inputs]
        asked = [data for data in doubled if data.requires_grad]
        if not asked:
            return 0.0
        try:
            with torch.enable_grad(), torch.device(self.device):
                model = self.namespace["Model"](*self.init).to(self.device).double()
                model.load_state_dict(self.weights)  # copied into float64
                output = model(*doubled)
                found = torch.autograd.grad(
                    (output * torch.randn_like(output)).sum(), asked, allow_unused=True
                )
        except (RuntimeError, NotImplementedError):  # no derivative, or no memory for one
            return 0.0
        sizes = [data.element_size() for data in inputs if _floats(torch, data)]
        return float(sum(_alive(grad) * size for grad, size in zip(found, sizes, strict=True)))


def _alive(grad: Any) -> int:
    if grad is None:
        return 0
    size = grad.abs()
    return int((size > _DEAD * size.max()).sum())


def run(torch: Any, problem: ProblemFile, *, seed: int, device: str) -> LoadedFile:
    """Run a problem file, draw its weights, and find its hidden shape.

    Raises UsageError, which names the file, where it breaks or is not what can be judged.
    """
    torch.manual_seed(seed)
    namespace: dict[str, Any] = {"__name__": "reference", "__file__": str(problem.path)}
    try:
        exec(compile(problem.text, str(problem.path), "exec"), namespace)
        init = namespace["get_init_inputs"]()
        _plain(init)
        with torch.device(device):
            model = namespace["Model"](*init).to(device)
        weights = {name: _shaken(torch, data) for name, data in model.state_dict().items()}
        loaded = LoadedFile(torch, problem, device, namespace, init, weights)
        inputs = loaded.inputs(hidden=False)
        _check(torch, loaded, inputs)
    except UsageError as error:
        raise UsageError(f"{problem.path}: {error}") from None
    except Exception as error:
        raise UsageError(f"{problem.path} fails: {type(error).__name__}: {error}") from error
    _hide(loaded, inputs, random.Random(seed))
    return loaded


def _plain(init: Any) -> None:
    try:
        json.dumps(init)
    except (TypeError, ValueError):
        raise UsageError("get_init_inputs() has to give numbers, texts and lists") from None
    if not isinstance(init, (list, tuple)):
        raise UsageError("get_init_inputs() has to give a list")


def _drawn(loaded: LoadedFile, *, batch: int = 0) -> list[Any]:
    torch, namespace = loaded.torch, loaded.namespace
    before = namespace.get("batch_size")
    if batch:
        namespace["batch_size"] = batch
    try:
        with torch.device(loaded.device):
            drawn = namespace["get_inputs"]()
    finally:
        if batch:
            namespace["batch_size"] = before
    for number, data in enumerate(drawn):
        if not isinstance(data, torch.Tensor):
            kind = type(data).__name__
            raise UsageError(f"get_inputs()[{number}] is a {kind}: only tensors are judged")
        name = str(data.dtype).removeprefix("torch.")
        if name not in _DTYPES:
            raise UsageError(f"get_inputs()[{number}] is {name}; judged are {', '.join(_DTYPES)}")
    return [data.detach().to(loaded.device).contiguous() for data in drawn]


def _check(torch: Any, loaded: LoadedFile, inputs: list[Any]) -> None:
    doubled = [_double(torch, data) for data in inputs]
    wide = {name: _double(torch, data) for name, data in loaded.weights.items()}
    plain = loaded.truth(inputs, loaded.weights, plain=True)
    first, second = (loaded.truth(doubled, wide) for _ in range(2))
    if type(first) is not torch.Tensor:
        raise UsageError(f"Model.forward gives a {type(first).__name__}: only one tensor is judged")
    if first.shape != plain.shape:
        raise UsageError("Model.forward gives another shape in float64")
    if not torch.allclose(first.double(), second.double(), rtol=1e-6, equal_nan=True):
        raise UsageError("Model.forward gives something else the second time: it draws at random")
    if not bool(torch.isfinite(first.double()).all()):
        raise UsageError("Model.forward gives infinities or NaN on the inputs of get_inputs()")


def _shaken(torch: Any, data: Any) -> Any:
    """A weight with noise: a tenth of its spread, or of one where it is constant, upwards, so that
    variances stay positive."""
    if not _floats(torch, data) or data.numel() == 0:
        return data.detach().clone()
    spread = float(data.float().std()) if data.numel() > 1 else 0.0
    if spread:
        return (data + _SHAKE * spread * torch.randn_like(data)).detach()
    return (data + _SHAKE * torch.rand_like(data)).detach()


def _hide(loaded: LoadedFile, inputs: list[Any], rng: random.Random) -> None:
    """Find a smaller shape that the model accepts."""
    listed = tuple(loaded.truth(inputs, loaded.weights, plain=True).shape)
    rows = inputs[0].shape[0] if inputs and inputs[0].dim() else 0
    batch = loaded.namespace.get("batch_size")
    if isinstance(batch, int) and batch > 1:
        loaded.batch = _fewer(batch, rng)
        if _accepts(loaded, listed):
            return
        loaded.batch = 0
    if rows > 1:
        kept = _fewer(rows, rng)
        for those in (_with_rows, _first):
            loaded.shrink = _cut(those, rows, kept)
            if _accepts(loaded, listed):
                return
    loaded.shrink = None


def _fewer(count: int, rng: random.Random) -> int:
    fewer = rng.randint(max(1, count * 5 // 8), max(1, count - 1))
    return fewer - 1 if fewer > 3 and fewer & (fewer - 1) == 0 else fewer


def _with_rows(inputs: list[Any], rows: int) -> list[bool]:
    return [data.dim() > 0 and data.shape[0] == rows for data in inputs]


def _first(inputs: list[Any], rows: int) -> list[bool]:
    del rows
    return [number == 0 for number in range(len(inputs))]


def _cut(
    those: Callable[[list[Any], int], list[bool]], rows: int, kept: int
) -> Callable[[list[Any]], list[Any]]:
    def shrink(inputs: list[Any]) -> list[Any]:
        chosen = zip(inputs, those(inputs, rows), strict=True)
        return [data[:kept].contiguous() if cut else data for data, cut in chosen]

    return shrink


def _accepts(loaded: LoadedFile, listed: tuple[int, ...]) -> bool:
    try:
        made = loaded.truth(loaded.inputs(hidden=True), loaded.weights, plain=True)
    except Exception:
        return False  # whatever it raises, this shape is not for this model
    return tuple(made.shape) != listed and made.numel() > 0


def _floats(torch: Any, data: Any) -> bool:
    return bool(torch.is_floating_point(data))


def _double(torch: Any, data: Any) -> Any:
    return data.double() if _floats(torch, data) else data
