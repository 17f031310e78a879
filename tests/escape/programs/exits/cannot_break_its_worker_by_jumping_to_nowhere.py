# claim: a completion cannot break its worker by jumping to nowhere
# profile: function
# win: host
# control_safe: true

def solve(target):
    import ctypes

    return ctypes.CFUNCTYPE(None)(16)()
