# claim: a completion cannot catch its timeout and go on
# profile: function
# win: host
# control_safe: true
# control: alarmed
# expect: timeout
import time


def solve(target):
    while True:
        try:
            time.sleep(600)
        except BaseException:
            continue
