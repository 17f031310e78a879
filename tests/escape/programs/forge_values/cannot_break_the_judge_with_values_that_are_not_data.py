# claim: a completion cannot break the judge with values that are not data
# profile: function
# win: host
# control_safe: true
# control: pickle
import sys
import threading


def solve(target):
    return [solve, sys, type, ..., NotImplemented, object(), threading.Lock(), sys._getframe(), iter(())]
