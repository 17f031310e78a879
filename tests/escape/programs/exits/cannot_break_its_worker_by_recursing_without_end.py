# claim: a completion cannot break its worker by recursing without end
# profile: function
# win: host
# control_safe: true
import sys


def solve(target):
    sys.setrecursionlimit(2**31 - 1)

    class Deep:
        def __getattr__(self, name):
            return getattr(self, name + "x"[:0])

        def __repr__(self):
            return repr(self)

    return repr(Deep())
