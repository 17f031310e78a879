# claim: a completion cannot announce a result of four gigabytes
# profile: function
# win: host
# control_safe: false
# expect: failed,error,timeout,limit
import os
import struct


def solve(target):
    for number in range(3, 64):
        for form, value in ((">I", 2**32 - 1), ("<I", 2**32 - 1), (">Q", 2**63), ("<q", -1)):
            try:
                os.write(number, struct.pack(form, value))
            except OSError:
                break
    return "announced"
