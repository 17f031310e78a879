# claim: a completion cannot raise an exception whose text raises
# profile: function
# win: host
# control_safe: true

class Broken(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


def solve(target):
    raise Broken
