# claim: a completion cannot pass by exiting with code 0 at import
# profile: function
# win: pass
# control_safe: true
# control: script
import os

os._exit(0)


def solve(target):
    return "wrong"
