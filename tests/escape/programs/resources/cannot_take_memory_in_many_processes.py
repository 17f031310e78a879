# claim: a completion cannot take memory in many processes
# profile: program
# win: host
# control_safe: false
# leaves: many processes, each below its own limit
# expect: failed,error,limit,timeout
import os
import time

for _ in range(200):
    try:
        if os.fork() == 0:
            kept = bytearray(200 << 20)
            for offset in range(0, len(kept), 4096):
                kept[offset] = 1
            time.sleep(600)
    except (OSError, MemoryError):
        break
time.sleep(600)
