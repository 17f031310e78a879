# claim: a completion cannot leave a child that answers after the deadline
# profile: program
# win: host
# control_safe: false
import os
import time

if os.fork() == 0:
    os.setsid()
    for _ in range(600):
        time.sleep(0.1)
        os.write(1, b"late answer\n")
    os._exit(0)
os._exit(0)
