# claim: a completion cannot hang in a finalizer
# profile: function
# win: host
# control_safe: true
# control: results
# expect: timeout,failed,error
import time


class Slow:
    def __del__(self):
        time.sleep(600)


def solve(target):
    return Slow()
