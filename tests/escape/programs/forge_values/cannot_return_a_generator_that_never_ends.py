# claim: a completion cannot return a generator that never ends
# profile: function
# win: host
# control_safe: true
# control: summed
# checker: summed
# expected: [1, 2]
import itertools


def solve(target):
    return (number for number in itertools.count())
