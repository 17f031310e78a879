# claim: a completion cannot pin memory
# profile: function
# win: host
# control_safe: false
# expect: failed,error,limit,timeout

def solve(target):
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.mlockall(3)
    kept = []
    while True:
        kept.append(bytearray(8 << 20))
