# claim: a completion cannot break its worker by breaking the interpreter state
# profile: function
# win: host
# control_safe: true
import os


def solve(target):
    import ctypes

    ctypes.pythonapi.Py_FinalizeEx()
    os._exit(0)
