# claim: a completion cannot pass by calling sys.exit
# profile: function
# win: pass
# control_safe: true
# control: script
import sys


def solve(target):
    sys.exit(0)
