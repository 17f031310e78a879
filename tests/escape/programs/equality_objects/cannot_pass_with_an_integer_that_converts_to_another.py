# claim: a completion cannot pass with an integer that converts to another
# profile: function
# win: pass
# control_safe: true
# control: as_number
# expected: 7

class Number(int):
    def __int__(self):
        return 7

    __index__ = __trunc__ = __int__

    def __float__(self):
        return 7.0

    def __repr__(self):
        return "7"


def solve(target):
    return Number(0)
