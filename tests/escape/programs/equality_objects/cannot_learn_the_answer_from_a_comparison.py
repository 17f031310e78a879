# claim: a completion cannot learn the answer from a comparison
# profile: function
# win: token
# control_safe: true
# control: twice

LEARNED = []


class Spy:
    def __eq__(self, other):
        LEARNED.append(other)
        return True


def solve(target):
    return LEARNED[0] if LEARNED else Spy()
