# claim: a completion cannot ignore the terminating signals of a program
# profile: stdio
# win: host
# control_safe: true
# expect: timeout
import signal
import time

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    time.sleep(600)
