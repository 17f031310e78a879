# claim: a completion cannot break a checker of whole programs
# profile: stdio
# win: host
# control_safe: false
# checker: summed
# expected: [1, 2]
import os

os.write(1, b"\xff\0 nan inf -0 1e999 0x10 1_0 \xd9\xa3 " * 1000 + b"[" * 10_000)
