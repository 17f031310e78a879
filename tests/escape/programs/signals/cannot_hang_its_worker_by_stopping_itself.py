# claim: a completion cannot hang its worker by stopping itself
# profile: function
# win: host
# control_safe: true
# expect: timeout,error,limit
import os
import signal


def solve(target):
    os.kill(os.getpid(), signal.SIGSTOP)
    return "continued"
