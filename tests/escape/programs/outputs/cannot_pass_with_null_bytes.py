# claim: a completion cannot pass with null bytes
# profile: stdio
# win: pass
# control_safe: false
import os
import sys

os.write(1, b"\0" * 1000 + b"answer\0" + sys.stdin.buffer.readline() + b"\0")
