# claim: a completion cannot announce an empty or negative result
# profile: function
# win: host
# control_safe: false
# expect: failed,error,timeout,limit
import os
import struct


def solve(target):
    for number in range(3, 64):
        for form, value in ((">i", 0), (">i", -1), ("<i", -(2**31)), (">q", -(2**63))):
            try:
                os.write(number, struct.pack(form, value))
            except OSError:
                break
    return "announced"
