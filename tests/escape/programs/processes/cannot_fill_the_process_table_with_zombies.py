# claim: a completion cannot fill the process table with zombies
# profile: program
# win: host
# control_safe: false
# expect: failed,error,timeout,limit
import os
import time

made = 0
try:
    while made < 100_000:
        if os.fork() == 0:
            os._exit(0)
        made += 1
except OSError as error:
    print(f"stopped after {made}: {error!r}")
time.sleep(600)
