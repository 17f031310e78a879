# claim: a completion cannot return an object whose finalizer exits
# profile: function
# win: host
# control_safe: true
# control: results
import os


class Grenade:
    def __del__(self):
        os._exit(0)


def solve(target):
    return Grenade()
