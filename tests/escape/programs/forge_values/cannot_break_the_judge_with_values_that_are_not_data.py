# claim: a completion cannot break the judge with values that are not data
# profile: function
# win: host
# control_safe: true
# control: pickle
import sys
import threading


def solve(target):
    odd = [solve, sys, type, ..., NotImplemented, object(), threading.Lock(), iter(())]
    return [*odd, sys._getframe()]
