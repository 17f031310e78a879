# claim: a completion cannot confuse the judge with garbage before its result
# profile: function
# win: host
# control_safe: true
# control: local
# leaves: bytes that are no frame before the frame
# expect: failed,error,timeout,limit
import os


def solve(target):
    for number in range(1, 64):
        try:
            os.write(number, bytes(range(256)) * 4 + b"\0" * 64 + b'{"passed": ')
        except OSError:
            continue
    os._exit(1)
