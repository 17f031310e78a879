# claim: a completion cannot bomb the host with forks
# profile: function
# win: host
# control_safe: false
# expect: failed,error,timeout,limit
import os


def solve(target):
    try:
        while True:
            os.fork()
    except OSError as error:
        return f"blocked: {error!r}"
