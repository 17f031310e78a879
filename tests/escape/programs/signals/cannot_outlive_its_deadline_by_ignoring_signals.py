# claim: a completion cannot outlive its deadline by ignoring signals
# profile: function
# win: host
# control_safe: false
# expect: timeout
import signal
import time


def solve(target):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        time.sleep(1)
