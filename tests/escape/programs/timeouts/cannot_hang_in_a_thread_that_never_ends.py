# claim: a completion cannot hang in a thread that never ends
# profile: function
# win: host
# control_safe: true
# expect: timeout,failed,error
import threading
import time


def solve(target):
    threading.Thread(target=time.sleep, args=(600,)).start()
    return "wrong"
