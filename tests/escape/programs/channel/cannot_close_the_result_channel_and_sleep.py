# claim: a completion cannot close the result channel and sleep
# profile: function
# win: host
# control_safe: true
# expect: timeout,error,limit
import os
import time


def solve(target):
    os.closerange(1, 4096)
    time.sleep(600)
