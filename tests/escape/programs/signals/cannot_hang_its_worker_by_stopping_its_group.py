# claim: a completion cannot hang its worker by stopping its group
# profile: function
# win: host
# control_safe: true
# expect: timeout,error,limit
import os
import signal


def solve(target):
    os.killpg(0, signal.SIGSTOP)
    return "continued"
