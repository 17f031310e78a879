# claim: a completion cannot drip its result for ever
# profile: function
# win: host
# control_safe: false
# expect: timeout,error,limit
import os
import time


def solve(target):
    """A reader whose deadline starts anew with every byte waits for ever."""
    while True:
        for number in range(3, 64):
            try:
                os.write(number, b" ")
            except OSError:
                continue
        time.sleep(0.05)
