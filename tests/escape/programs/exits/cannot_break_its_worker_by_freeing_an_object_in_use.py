# claim: a completion cannot break its worker by freeing an object in use
# profile: function
# win: host
# control_safe: true

def solve(target):
    import ctypes

    for thing in (None, True, (), "", type, int, str, list, dict):
        ctypes.c_ssize_t.from_address(id(thing)).value = 0
    for _ in range(10_000):
        [None, True, (), ""]
    return [None, True, ()] * 100
