"""Source with which hostile programs look for the right result in their judge's values."""

from __future__ import annotations

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
