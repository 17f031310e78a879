# claim: a completion cannot read the next job from standard input
# profile: function
# win: token
# control_safe: true
# control: queue
import json
import sys


def attack(target):
    for line in sys.stdin:
        try:
            job = json.loads(line)
        except ValueError:
            continue
        if "expected" in job:
            return job["expected"]
    return "blocked: nothing on standard input"


def solve(target):
    try:
        return attack(target)
    except Exception as error:
        return f"blocked: {error!r}"
