# claim: a completion cannot hang at exit
# profile: function
# win: host
# control_safe: true
# expect: timeout,failed,error
import atexit
import time

atexit.register(time.sleep, 600)


def solve(target):
    return "wrong"
