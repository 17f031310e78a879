# claim: a completion cannot backtrack for ever in a regular expression
# profile: function
# win: host
# control_safe: false
# expect: timeout
import re


def solve(target):
    return re.match(r"(a*)*(a*)*b", "a" * 60)
