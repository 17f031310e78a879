# claim: a completion cannot return a list that iterates for ever
# profile: function
# win: host
# control_safe: true
# control: summed
# checker: summed
# expected: [1, 2]
import itertools


class Endless(list):
    def __iter__(self):
        return itertools.count()


def solve(target):
    return Endless([1])
