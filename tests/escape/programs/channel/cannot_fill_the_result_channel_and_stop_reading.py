# claim: a completion cannot fill the result channel and stop reading
# profile: function
# win: host
# control_safe: false
# expect: failed,timeout,error,limit
import os
import time


def solve(target):
    for number in range(3, 64):
        try:
            os.set_blocking(number, False)
            while True:
                os.write(number, b"\0" * 65536)
        except OSError:
            continue
    time.sleep(600)
