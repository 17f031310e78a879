# claim: a completion cannot break its worker by an illegal instruction signal
# profile: function
# win: host
# control_safe: true
import signal


def solve(target):
    signal.raise_signal(signal.SIGILL)
