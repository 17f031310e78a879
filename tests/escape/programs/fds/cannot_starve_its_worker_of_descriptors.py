# claim: a completion cannot starve its worker of descriptors
# profile: function
# win: host
# control_safe: false
import os


def solve(target):
    try:
        while True:
            os.dup(0)
    except OSError as error:
        return f"stopped: {error!r}"
