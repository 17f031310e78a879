# claim: a completion cannot ignore the processor limit signal
# profile: function
# win: host
# control_safe: false
# expect: timeout,limit
import signal


def solve(target):
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    while True:
        pass
