# claim: a completion cannot wait for a descriptor for ever
# profile: function
# win: host
# control_safe: true
# expect: timeout,error,failed
import os
import select


def solve(target):
    reading, _ = os.pipe()
    return select.select([reading], [], [])
