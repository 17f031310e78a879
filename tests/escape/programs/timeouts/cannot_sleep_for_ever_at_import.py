# claim: a completion cannot sleep for ever at import
# profile: function
# win: host
# control_safe: true
# expect: timeout
import time

time.sleep(10**6)


def solve(target):
    return "never"
