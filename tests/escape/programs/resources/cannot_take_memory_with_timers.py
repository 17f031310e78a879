# claim: a completion cannot take memory with timers
# profile: function
# win: host
# control_safe: false
# leaves: kernel memory for timers and queued signals
# expect: failed,error,limit,timeout

def solve(target):
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    handle = ctypes.c_void_p()
    made = 0
    while made < 5_000_000 and libc.timer_create(0, None, ctypes.byref(handle)) == 0:
        made += 1
    return f"made {made}"
