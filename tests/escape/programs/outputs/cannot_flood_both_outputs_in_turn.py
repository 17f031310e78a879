# claim: a completion cannot flood both outputs in turn
# profile: stdio
# win: host
# control_safe: false
# leaves: a deadlock, for a judge that reads one pipe at a time
# expect: failed,error,limit,timeout
import os

for _ in range(20_000):
    os.write(2, b"e" * 4096)
    os.write(1, b"o" * 4096)
