"""Run by each Python of a grader when it starts: a module of its own comes before one of that name
in the folder where it works, which `python -m` and scripts put first.

Covered: the standard library, site-packages and the grader's plugin, whatever lies beside a script.
Not covered: Pythons that start without PYTHONPATH, such as by `-I`, which put no folder first.

This file is run by the image's Python as `sitecustomize` and imports nothing of the engine.
"""

# pyright: basic

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def own_places():
    """The folders of this interpreter; those of packages in development are none of them."""
    prefixes = {os.path.realpath(one) for one in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
    libraries = tuple(os.path.join(one, "lib") for one in prefixes)
    ends = ("site-packages", "dist-packages")
    return [
        path
        for path in sys.path
        if path == HERE
        or os.path.basename(path) in ends
        or path.startswith("/installed/")
        or os.path.realpath(path).startswith(libraries)
    ]


try:
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    class OwnFirst:
        """Finds a module by name in the folders of the interpreter."""

        places = own_places()

        @classmethod
        def find_spec(cls, name, path=None, target=None):
            spec = PathFinder.find_spec(name, cls.places) if path is None else None
            return spec if spec is not None and spec.loader is not None else None

    sys.meta_path.insert(sys.meta_path.index(PathFinder), OwnFirst)
    for name in ("copy", "pickle"):  # they ask for a module of Jython, and would find an agent's
        __import__(name)

    spec = PathFinder.find_spec("sitecustomize", [one for one in OwnFirst.places if one != HERE])
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))
except ImportError:  # an older Python
    pass
