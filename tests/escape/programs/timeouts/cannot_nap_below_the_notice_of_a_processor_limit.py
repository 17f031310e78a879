# claim: a completion cannot nap below the notice of a processor limit
# profile: function
# win: host
# control_safe: false
# expect: timeout
import time


def solve(target):
    """Little processor time, no end: only a wall clock stops it."""
    while True:
        for _ in range(10_000):
            pass
        time.sleep(0.05)
