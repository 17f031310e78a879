# claim: a completion cannot close the result channel and spin
# profile: function
# win: host
# control_safe: false
# expect: timeout,error,limit
import os


def solve(target):
    os.closerange(0, 4096)
    while True:
        pass
