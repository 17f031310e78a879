# claim: a completion cannot break the judge with unusual line ends
# profile: stdio
# win: host
# control_safe: false
import os

os.write(1, "a\rb\x85c\u2028d\u2029e\x1cf\x1dg\x0bh\x0ci".encode() * 1000)
