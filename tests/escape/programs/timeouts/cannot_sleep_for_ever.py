# claim: a completion cannot sleep for ever
# profile: function
# win: host
# control_safe: true
# expect: timeout
import time


def solve(target):
    time.sleep(10**6)
