"""Stand-ins for heavy modules that a reward function imports but hardly uses.

Covered: `import torch` and the like where the package is not installed: names can be imported,
subclassed, used as decorators, in annotations and in `isinstance`.
Not covered: real work of such a package. A stub is never a number, and one whose truth, length
or items a function looked at is noted in `USED`: the score of such a call is worth nothing.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
import types
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from typing import Any, cast

HEAVY = frozenset(
    """
    accelerate aiohttp anthropic apex atroposlib bitsandbytes botocore boto3 codetiming cupy
    datasets dask deepspeed diffusers docker e2b e2b_code_interpreter evaluate faiss fastapi
    fire flash_attn flax google gradio h5py httpx huggingface_hub hydra inspect_ai jax jaxlib
    jsonschema langdetect latex2sympy2 latex2sympy2_extended litellm loguru lighteval
    matplotlib megatron mlflow modelscope morph morphcloud nemo_rl nltk numba omegaconf onnx
    openai pandas peft pebble playwright polars psutil pyarrow pydantic pylatexenc pytorch_lightning
    ray redis regex requests rouge_score sacrebleu safetensors scipy seaborn sentence_transformers
    sentencepiece sglang sklearn spacy swanlab swift tenacity tensorboard tensordict tensorflow
    tiktoken tinker tokenizers torch torchaudio torchdata torchvision tqdm transformers triton trl
    trackio unsloth uvicorn verl verifiers vllm wandb xformers
    """.split()  # noqa: SIM905
)
"""Top-level names that may be replaced where they cannot be found."""


USED: list[str] = []
"""Names of stubs that had a say in what a function did."""


class Anything:
    """A value that answers to nearly every use, and stands for nothing."""

    def __init__(self, name: str = "anything") -> None:
        self.__dict__["_name"] = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return stub(f"{self.__dict__['_name']}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A decorator gives back what it decorates, a class what it was told."""
        if len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type)):
            return args[0]
        name: str = self.__dict__["_name"]
        if kwargs and not args and name.rpartition(".")[2][:1].isupper():
            return Fields(kwargs)
        return Anything(f"{name}()")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        first = next(base for base in bases if isinstance(base, Anything))
        return (Base,) if first is self else ()

    def __instancecheck__(self, instance: object) -> bool:
        return False

    def __subclasscheck__(self, subclass: type) -> bool:
        return False

    def __getitem__(self, key: Any) -> Anything:
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        self._note()

    def __or__(self, other: Any) -> Anything:
        return self

    __ror__ = __or__

    def __iter__(self) -> Iterator[Any]:
        self._note()
        return iter(())

    def __contains__(self, item: object) -> bool:
        self._note()
        return False

    def __len__(self) -> int:
        self._note()
        return 0

    def __bool__(self) -> bool:
        self._note()
        return False

    def __lt__(self, other: Any) -> bool:
        self._note()
        return False

    __gt__ = __le__ = __ge__ = __lt__

    def __enter__(self) -> Anything:
        return self

    def __exit__(self, *details: object) -> None:
        return None

    def __repr__(self) -> str:
        return f"<no {self.__dict__['_name']}>"

    def _note(self) -> None:
        USED.append(self.__dict__["_name"])


class Fields(dict[str, Any]):
    """An object of a class that is missing: what its constructor was given, by name."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(name)


class Base:
    """A stub for a base class that is missing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Keywords become attributes, and so do positional values by the order of annotations."""
        kinds = type(self).__mro__[::-1]
        names = [name for kind in kinds for name in inspect.get_annotations(kind)]
        for name, value in {**dict(zip(names, args, strict=False)), **kwargs}.items():
            self.__dict__[name] = value

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Options of the class statement mean nothing here."""


class AnyModule(types.ModuleType):
    """A module in which every name exists."""

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return "0.0.0"
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return stub(f"{self.__name__}.{name}")


class StandIns:
    """The last finder on the path: serves what no other finder has."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = frozenset(names)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        """A spec for a heavy module that is missing; None for others."""
        top = name.partition(".")[0]
        if top not in (HEAVY | self.names) or _is_question():
            return None
        if name != top and not isinstance(sys.modules.get(top), AnyModule):
            return None
        if name == "regex":
            return importlib.util.find_spec("re")
        return ModuleSpec(name, cast("Any", self), is_package=True)

    def create_module(self, spec: ModuleSpec) -> AnyModule:
        """An empty module of this kind."""
        return AnyModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to run."""


def _is_question() -> bool:
    """True when somebody only asks if the package is there; then the honest answer is no."""
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    for _ in range(4):
        if frame is None:
            return False
        if frame.f_code.co_filename.endswith(("importlib/util.py", "<frozen importlib.util>")):
            return True
        if frame.f_code.co_name == "_find_and_load":
            return False
        frame = frame.f_back
    return False


class _Question:
    """`is_..._available` of a package that is missing itself."""

    def __init__(self, package: str) -> None:
        self.package = package

    def __call__(self, *args: Any, **kwargs: Any) -> bool:
        return importlib.util.find_spec(self.package) is not None


def stub(name: str) -> Any:
    """A stub for a dotted name that could not be imported: an exception for the name of one,
    for a question whether a package is there its answer, else `Anything`."""
    last = name.rpartition(".")[2]
    if re.fullmatch(r"[A-Z]\w*(?:Error|Exception|Warning)", last):
        return type(last, (Exception,), {})
    asked = re.fullmatch(r"_?is_(\w+)_available", last)
    if asked:
        return _Question(asked[1])
    return Anything(name)


def allow(names: Sequence[str] = ()) -> None:
    """Let heavy modules that are missing be imported, and those of `names` too."""
    sys.meta_path[:] = [item for item in sys.meta_path if not isinstance(item, StandIns)]
    sys.meta_path.append(cast("Any", StandIns(names)))
