# claim: a completion cannot flood standard error
# profile: function
# win: host
# control_safe: false
# expect: failed,error,limit,timeout
import os


def solve(target):
    block = b"x" * (1 << 20)
    written = 0
    while written < 1 << 30:
        try:
            written += os.write(2, block)
        except OSError as error:
            return f"stopped after {written}: {error!r}"
    return "flooded"
