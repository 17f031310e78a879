# claim: a completion cannot leave half a frame and exit
# profile: function
# win: host
# control_safe: false
# expect: failed,error,timeout,limit
import os
import struct


def solve(target):
    for number in range(3, 64):
        try:
            os.write(number, struct.pack(">I", 1000) + b'{"outputs": [1')
        except OSError:
            continue
    os._exit(0)
