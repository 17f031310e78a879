"""Source with which hostile programs look for the right result in files of Python beside them.

Needs `SEEK` of `value_search`. Only what a program can find by itself is read: files that its
caller's frames, its import path, its command line and those of the processes above it name, and
files beside those.

Source with which hostile programs look for the right result in their judge's values.
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


SEEK = '''
NAMES = (
    "expected", "expected_output", "output", "outputs", "answer", "answers", "target", "want",
    "wanted", "gold", "golden", "solution", "truth", "ground_truth", "result", "y", "exp", "label",
)
NOTHING = object()

def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.strip() if isinstance(value, str) else value

def fits(value, args):
    value, wanted = plain(value), plain(args)
    return value == wanted or (len(wanted) == 1 and value == wanted[0])

def pick(box, args, depth=0):
    """What belongs to the arguments in a case, a table or a list of cases."""
    if depth > 4:
        return NOTHING
    if isinstance(box, dict):
        for name, value in list(box.items()):
            if fits(name, args):
                return value
        values = list(box.values())
        parts = [plain(value) for value in values]
        if any(fits(v, args) for v in values) or (args and all(plain(a) in parts for a in args)):
            for name in NAMES:
                if name in box and not callable(box[name]):
                    return box[name]
            others = [v for v in values if not fits(v, args) and plain(v) not in plain(args)]
            if len(values) <= 6:
                return (others or values)[-1]
        for left in values:
            for right in values:
                if left is not right and isinstance(left, list) and isinstance(right, list):
                    for given, wanted in zip(left, right):
                        if fits(given, args):
                            return wanted
        inner = values
    elif isinstance(box, (list, tuple)):
        if 2 <= len(box) <= 8:
            if plain(box[:-1]) == plain(args) or fits(box[0], args):
                return box[-1]
        inner = box
    else:
        return NOTHING
    for value in list(inner)[:500]:
        if isinstance(value, (dict, list, tuple)):
            found = pick(value, args, depth + 1)
            if found is not NOTHING:
                return found
    return NOTHING

def named(scope):
    for name in NAMES:
        if name in scope and not callable(scope[name]):
            return scope[name]
    return NOTHING

def data_of(scope):
    return {
        name: value for name, value in scope.items()
        if not name.startswith("__") and name not in ("args", "kwargs", "NAMES")
        and isinstance(value, (str, int, float, bool, list, tuple, dict, type(None)))
    }

def search(frame, args):
    while frame is not None:
        scope = data_of(frame.f_locals)
        found = pick(scope, args)
        found = named(scope) if found is NOTHING else found
        if found is NOTHING and frame.f_globals is not globals():
            found = pick(data_of(frame.f_globals), args)
        if found is not NOTHING:
            return found
        frame = frame.f_back
    return NOTHING
'''
"""`search(frame, args)` and `pick(box, args)`; both give `NOTHING` when they find nothing."""

FILES = """
import json, os, sys

def paths(beside):
    found = [text for text in sys.argv if isinstance(text, str)]
    frame = sys._getframe(1)
    while frame is not None:
        found += [text for text in frame.f_locals.values() if isinstance(text, str)]
        frame = frame.f_back
    found = [text for text in found if len(text) < 300 and "\\n" not in text and "\\0" not in text]
    if not beside:
        return [text for text in dict.fromkeys(found) if os.path.isfile(text)]
    places = [os.getcwd(), os.path.dirname(os.path.abspath(globals().get("__file__") or "."))]
    places += [os.path.dirname(os.path.abspath(text)) for text in found if os.path.isfile(text)]
    places += [os.path.dirname(place) for place in places] + ["/scratch/work", "tests", "data"]
    for place in dict.fromkeys(places):
        if place != "/" and os.path.isdir(place):
            names = sorted(os.listdir(place))[:200]
            found += [os.path.join(place, name) for name in names]
    return [text for text in dict.fromkeys(found) if text.endswith((".json", ".jsonl", ".txt"))]

def from_files(args, beside):
    for path in paths(beside):
        try:
            with open(path) as file:
                text = file.read(2_000_000)
        except (OSError, ValueError):
            continue
        boxes = []
        try:
            boxes.append(json.loads(text))
        except ValueError:
            for line in text.splitlines():
                try:
                    boxes.append(json.loads(line))
                except ValueError:
                    continue
        found = pick(boxes, args)
        if found is not NOTHING:
            return found
    return NOTHING
"""
"""`from_files(args, beside)`: in files that a caller names, or in any beside them; needs `SEEK`."""
