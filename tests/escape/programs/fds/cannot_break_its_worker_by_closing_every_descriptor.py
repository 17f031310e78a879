# claim: a completion cannot break its worker by closing every descriptor
# profile: function
# win: host
# control_safe: true
import os


def solve(target):
    os.closerange(0, 4096)
    return "closed"
