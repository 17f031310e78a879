# claim: a completion cannot break its worker with an exit code that is no code
# profile: function
# win: host
# control_safe: true

class Code:
    def __index__(self):
        raise RuntimeError

    __int__ = __str__ = __repr__ = __index__


def solve(target):
    raise SystemExit(Code())
