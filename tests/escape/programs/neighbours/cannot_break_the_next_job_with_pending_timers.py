# claim: a completion cannot break the next job with pending timers
# profile: function
# win: host
# control_safe: true
import signal


def solve(target):
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    return "poisoned"
