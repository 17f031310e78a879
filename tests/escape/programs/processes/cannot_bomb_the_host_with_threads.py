# claim: a completion cannot bomb the host with threads
# profile: function
# win: host
# control_safe: false
# expect: failed,error,timeout,limit
import threading
import time


def solve(target):
    started = 0
    try:
        while started < 5000:
            threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
            started += 1
    except RuntimeError as error:
        return f"stopped after {started}: {error!r}"
    return f"started {started}"
