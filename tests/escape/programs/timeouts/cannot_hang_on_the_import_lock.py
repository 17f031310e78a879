# claim: a completion cannot hang on the import lock
# profile: function
# win: host
# control_safe: false
# expect: timeout,failed,error
import _imp
import threading
import time


def solve(target):
    threading.Thread(target=lambda: (_imp.acquire_lock(), time.sleep(600)), daemon=True).start()
    time.sleep(0.1)
    import wave

    return wave.__name__
