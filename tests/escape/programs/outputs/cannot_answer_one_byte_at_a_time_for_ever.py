# claim: a completion cannot answer one byte at a time for ever
# profile: stdio
# win: host
# control_safe: true
# expect: timeout,limit
import os
import time

while True:
    os.write(1, b".")
    time.sleep(0.2)
