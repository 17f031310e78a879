# claim: a completion cannot flood the errors of a program
# profile: stdio
# win: host
# control_safe: false
# expect: failed,error,limit,timeout
import os

BLOCK = b"x" * (1 << 20)
for _ in range(1024):
    os.write(2, BLOCK)
