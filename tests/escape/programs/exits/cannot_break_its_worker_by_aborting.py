# claim: a completion cannot break its worker by aborting
# profile: function
# win: host
# control_safe: true
import os


def solve(target):
    os.abort()
