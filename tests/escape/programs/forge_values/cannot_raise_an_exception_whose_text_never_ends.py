# claim: a completion cannot raise an exception whose text never ends
# profile: function
# win: host
# control_safe: true
# expect: failed,error,timeout,limit

class Endless(Exception):
    def __str__(self):
        import time

        while True:
            time.sleep(60)

    __repr__ = __str__


def solve(target):
    raise Endless
