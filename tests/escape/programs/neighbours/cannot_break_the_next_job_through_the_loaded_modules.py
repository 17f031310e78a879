# claim: a completion cannot break the next job through the loaded modules
# profile: function
# win: host
# control_safe: true
import json
import sys
import time


def solve(target):
    time.sleep = json.dumps = None
    for name in ("json", "time", "math", "re", "collections", "typing"):
        sys.modules[name] = None
    return "poisoned"
