# claim: a completion cannot break its worker by killing itself
# profile: function
# win: host
# control_safe: false
import os
import signal


def solve(target):
    os.kill(os.getpid(), signal.SIGKILL)
