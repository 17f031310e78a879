# claim: a completion cannot leave a message queue behind
# profile: function
# win: left_over
# control_safe: true
# leaves: shm: a System V message queue

def solve(target):
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    return f"made {libc.msgget(0x5EA6, 0o1600)}"
