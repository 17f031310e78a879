# claim: a completion cannot convert a number for ever
# profile: function
# win: host
# control_safe: false
# expect: timeout,error,limit,failed
import sys


def solve(target):
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    return str(1 << 1_000_000_000)
