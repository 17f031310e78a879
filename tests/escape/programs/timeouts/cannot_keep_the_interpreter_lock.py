# claim: a completion cannot keep the interpreter lock
# profile: function
# win: host
# control_safe: false
# expect: timeout

def solve(target):
    import ctypes

    ctypes.PyDLL(None).sleep(600)
