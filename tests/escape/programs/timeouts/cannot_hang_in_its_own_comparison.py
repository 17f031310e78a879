# claim: a completion cannot hang in its own comparison
# profile: function
# win: host
# control_safe: true
# expect: timeout,failed,error
import time


class Slow:
    def __eq__(self, other):
        time.sleep(600)


def solve(target):
    return Slow()
