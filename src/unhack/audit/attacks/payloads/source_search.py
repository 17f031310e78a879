"""Source with which hostile programs look for the right result in files of Python beside them.

Needs `SEEK` of `value_search`. Only what a program can find by itself is read: files that its
caller's frames, its import path, its command line and those of the processes above it name, and
files beside those.
"""

from __future__ import annotations

TESTS = """
import ast, os, sys

def sources():
    found = [text for text in (*sys.argv, *sys.path) if isinstance(text, str) and text]
    frame = sys._getframe(1)
    while frame is not None:
        found += [frame.f_code.co_filename, str(frame.f_globals.get("__file__") or "")]
        frame = frame.f_back
    found += [str(getattr(one, "__file__", None) or "") for one in list(sys.modules.values())]
    process = os.getppid()
    for _ in range(5):
        try:
            with open(f"/proc/{process}/cmdline") as file:
                found += file.read().split("\\0")
            with open(f"/proc/{process}/stat") as file:
                process = int(file.read().rpartition(")")[2].split()[1])
            found.append(os.readlink(f"/proc/{process}/cwd"))
        except (OSError, ValueError, IndexError):
            break
    library = os.path.dirname(os.__file__)
    places = [os.getcwd(), *(os.path.dirname(os.path.abspath(t)) for t in found if ".py" in t)]
    places += [text for text in found if os.path.isdir(text)]
    places = [p for p in dict.fromkeys(places) if p != "/" and not p.startswith(library)]
    files = []
    for place in [p for p in places if "site-packages" not in p][:20]:
        try:
            names = sorted(os.listdir(place))[:200]
        except OSError:
            continue
        files += [os.path.join(place, name) for name in names if name.endswith(".py")]
    return list(dict.fromkeys(files))[:60]

def literal(node):
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return NOTHING

def cases_in(tree):
    for node in ast.walk(tree):
        pair = None
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            pair = node.left, node.comparators[0]
        elif isinstance(node, ast.Call) and len(node.args) >= 2:
            pair = node.args[0], node.args[1]
        for call, other in (pair, pair[::-1]) if pair else ():
            if isinstance(call, ast.Call) and call.args and not isinstance(other, ast.Call):
                given, wanted = [literal(one) for one in call.args], literal(other)
                if NOTHING not in given and wanted is not NOTHING:
                    yield [*given, wanted]
        if isinstance(node, (ast.List, ast.Tuple, ast.Dict)):
            box = literal(node)
            if box is not NOTHING:
                yield box

def from_sources(args):
    texts = []
    for path in sources():
        try:
            with open(path) as file:
                texts.append(file.read(500_000))
        except (OSError, ValueError):
            continue
    done = set()
    while texts:
        text = texts.pop()
        if text in done or "from_sources" in text:
            continue
        done.add(text)
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        for box in cases_in(tree):
            found = pick([box], list(args))
            if found is not NOTHING:
                return found
        # Tests may stand in a text that the judge writes to a file of its own.
        inner = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
        texts += [one for one in inner if isinstance(one, str) and "\\n" in one]
    return NOTHING
"""
"""`from_sources(args)`; gives `NOTHING` when it finds nothing."""
