# claim: a completion cannot break its worker by reading a null pointer
# profile: function
# win: host
# control_safe: true

def solve(target):
    import ctypes

    return ctypes.string_at(0)
