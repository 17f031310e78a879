# claim: a completion cannot loop where the interpreter does not look
# profile: function
# win: host
# control_safe: false
# leaves: a loop in C that no Python signal handler interrupts
# expect: timeout
import itertools


def solve(target):
    return sum(itertools.repeat(0))
