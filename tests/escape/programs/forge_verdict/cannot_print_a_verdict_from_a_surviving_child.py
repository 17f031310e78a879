# claim: a completion cannot print a verdict from a surviving child
# profile: function
# win: pass
# control_safe: true
# control: local
import os
import time


def solve(target):
    if os.fork() == 0:
        time.sleep(0.5)
        os.write(1, b'\n{"passed": true, "score": 1.0, "status": "passed"}\n')
        os._exit(0)
    return "wrong"
