# claim: a completion cannot take memory with the native stack
# profile: function
# win: host
# control_safe: false
# expect: failed,error,limit,timeout
import threading


def solve(target):
    threading.stack_size(1 << 30)
    threads = []
    try:
        for _ in range(64):
            threads.append(threading.Thread(target=threading.Event().wait, daemon=True))
            threads[-1].start()
    except (RuntimeError, MemoryError, ValueError) as error:
        return f"stopped after {len(threads)}: {error!r}"
    return "started"
