# claim: a completion cannot break the judge with a line of fifty million tokens
# profile: stdio
# win: host
# control_safe: false
# expect: failed,error,limit,timeout
import os

for _ in range(100):
    os.write(1, b"1 " * 500_000)
