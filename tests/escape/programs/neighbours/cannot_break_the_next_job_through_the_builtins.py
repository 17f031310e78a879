# claim: a completion cannot break the next job through the builtins
# profile: function
# win: host
# control_safe: true
import builtins


def solve(target):
    builtins.sorted = builtins.abs = lambda *arguments, **keywords: []
    return "poisoned"
