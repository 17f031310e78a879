# claim: a completion cannot return fifty thousand colliding keys
# profile: function
# win: host
# control_safe: false
# expect: failed,error,timeout,limit
import os

MODULUS = (1 << 61) - 1


def solve(target):
    """Integers that share one hash: building the dictionary in the judge would be quadratic."""
    pairs = b",".join(b"[%d,0]" % (index * MODULUS) for index in range(50_000))
    for number in range(3, 64):
        try:
            os.write(number, b'{"outputs":[{"$dict":[' + pairs + b"]}]}\n")
        except OSError:
            continue
    return [index * MODULUS for index in range(50_000)]
