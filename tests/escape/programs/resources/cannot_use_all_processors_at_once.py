# claim: a completion cannot use all processors at once
# profile: program
# win: host
# control_safe: false
# leaves: more processor time than its limit
# expect: timeout,limit,error,failed
import os

for _ in range(16):
    try:
        if os.fork() == 0:
            break
    except OSError:
        break
while True:
    pass
