# claim: a completion cannot break the next job with an audit hook
# profile: function
# win: host
# control_safe: true
import sys


def deny(event, arguments):
    raise SystemExit(event)


def solve(target):
    sys.addaudithook(deny)
    return "poisoned"
