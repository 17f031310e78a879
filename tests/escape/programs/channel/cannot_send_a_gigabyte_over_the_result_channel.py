# claim: a completion cannot send a gigabyte over the result channel
# profile: function
# win: host
# control_safe: false
# expect: failed,error,limit,timeout
import os


def solve(target):
    block = b"[" * (1 << 20)
    written = 0
    for number in range(3, 64):
        try:
            while written < 1 << 30:
                written += os.write(number, block)
        except OSError:
            continue
    return f"wrote {written}"
