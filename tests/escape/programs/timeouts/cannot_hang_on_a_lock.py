# claim: a completion cannot hang on a lock
# profile: function
# win: host
# control_safe: true
# expect: timeout
import threading


def solve(target):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
