"""The libraries that stage 2 sees with PyTorch: bytecode without a source, comment or docstring.

Weights that rounding has made coarse can be tuned on program text. Every submission is given some
for nothing (`stages`); what else lies on the machine is to tell less than that. Nothing tells more
than the files that windows have the shapes of: these modules of Python's library are not there, but
for those that the installed PyTorch loads. All else is bytecode, as `sealed.library` compiles it,
and compiled extensions.

Covered: sources, headers, comments, docstrings, line numbers; documentation that PyTorch attaches
when it loads.
Not covered: text inside compiled libraries, and with it documentation that numpy has compiled in;
documentation that a module makes when it is loaded; names, messages and other short constants of
the modules. Coarse weights can be tuned on each of them, and less well than on the given text.
"""

from __future__ import annotations

import ast
import importlib.util
import shutil
import sys
import threading
from functools import lru_cache
from pathlib import Path

from unhack.models import corpus
from unhack.models.corpus import CorpusPart
from unhack_contests.quantization.sealed import library

_PACKAGES = ("torch", "torchgen", "typing_extensions")
_LEFT_OUT = frozenset({"test", "idlelib", "lib2to3", "ensurepip", "tkinter", "turtledemo"})
"""Of the standard library: nothing that a decoder needs, and much text."""
_KEPT = frozenset({"asyncio", "tarfile"})
"""Modules that every PyTorch loads."""
_DEBUGGER = frozenset({"cmd", "pdb"})
"""Modules that PyTorch loads where `torch.distributed` imports the debugger at once, as earlier
versions do; 2.13 does so when somebody sets a breakpoint."""
_NO_COMPILER = """
def disable(fn=None, recursive=True, **_):
    return fn or (lambda own: own)

def graph_break(*_):
    pass
"""
"""The part of PyTorch's compiler that optimisers ask: it needs packages and writes machine code, so
nothing is compiled here."""
_CONFIG = b"install_config_module("
"""PyTorch calls this in modules whose source it reads when it loads them."""
_ASKED = (_CONFIG, b"add_docstr")
_NO_DOCUMENTATION = "Documentation is left out in this place."
"""Long enough: PyTorch keeps a pointer to a text, and loses it where the text lies in place."""
_LOCK = threading.Lock()


def binds() -> dict[str, Path]:
    """Path inside -> folder on the host, as `sealed.library.binds`. Raises OSError."""
    with _LOCK:
        top = _folder()
    found = library.covering(top)
    site = _site()
    for folder in _native(site):
        found[f"{library.place_inside()}/{folder.relative_to(site)}"] = folder
    return found


def missing() -> frozenset[str]:
    """Top-level names of the standard library that stage 2 may not import. Raises OSError."""
    names = corpus.names(CorpusPart.SEALED)
    files = (name for name in names if not library.is_visible(name))
    shapes = {name.partition("/")[0].removesuffix(".py") for name in files}
    return _LEFT_OUT | (shapes - _kept()) & sys.stdlib_module_names


def _kept() -> frozenset[str]:
    distributed = _site() / "torch" / "distributed" / "__init__.py"
    body = ast.parse(distributed.read_bytes()).body
    imports = (node.names for node in body if isinstance(node, ast.Import))
    loads = any(alias.name == "pdb" for names in imports for alias in names)
    return _KEPT | _DEBUGGER if loads else _KEPT


def _site() -> Path:
    """The folder that PyTorch is installed in. Raises OSError."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise OSError("PyTorch is not installed: pip install 'unhack[train]'")
    return Path(spec.origin).resolve().parent.parent


@lru_cache(maxsize=1)
def _folder() -> Path:
    site = _site()
    top = library.build(frozenset(sys.stdlib_module_names) - missing())
    target = top / "library"
    for name in _PACKAGES:
        library.take(site, name, target, shared=False)
    for path in (site / "torch").glob("*.so"):
        shutil.copyfile(path, target / "torch" / path.name)
    for folder in _native(site):
        (target / folder.relative_to(site)).mkdir(parents=True, exist_ok=True)
    for path in sorted((site / "torch").rglob("*.py")):
        source = path.read_bytes()
        if any(word in source for word in _ASKED):
            _take_asked(source, target / path.relative_to(site))
    shutil.rmtree(target / "torch/_dynamo", ignore_errors=True)
    compiler = library.bytecode(library.bare(_NO_COMPILER.encode()), "torch._dynamo")
    (target / "torch/_dynamo.pyc").write_bytes(compiler)
    manager = target / "torch/bin/torch_shm_manager"
    manager.parent.mkdir(exist_ok=True)
    manager.touch()  # PyTorch looks whether it is there; no process here may start it
    library.open_to_all(top)
    return top


def _native(site: Path) -> list[Path]:
    """Topmost folders with shared libraries, which are mounted: gigabytes, with a card."""
    found: list[Path] = []
    for top in (site / "torch/lib", *sorted((site / "nvidia").rglob("lib"))):
        if top.is_dir() and not any(top.is_relative_to(other) for other in found):
            found.append(top)
    return found


def _take_asked(source: bytes, target: Path) -> None:
    """A module that reads its own source (a config), or that attaches documentation."""
    tree = library.bare(source)
    target.parent.mkdir(parents=True, exist_ok=True)
    if _CONFIG in source and target.name != "_config_module.py":
        # Python runs bytecode of this kind whatever the source beside it is: an empty line, in
        # which PyTorch finds none of the remarks that it looks for.
        code = Path(importlib.util.cache_from_source(str(target)))
        code.parent.mkdir(exist_ok=True)
        code.write_bytes(library.bytecode(tree, target.stem))
        target.with_suffix(".pyc").unlink(missing_ok=True)
        target.write_text("\n")
        return
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    for call in calls:
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if "add_docstr" in name and len(call.args) > 1:
            call.args[1] = ast.copy_location(ast.Constant(_NO_DOCUMENTATION), call)
    target.with_suffix(".pyc").write_bytes(library.bytecode(tree, target.stem))
