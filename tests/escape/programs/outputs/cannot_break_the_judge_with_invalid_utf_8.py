# claim: a completion cannot break the judge with invalid UTF-8
# profile: stdio
# win: host
# control_safe: false
import os

os.write(1, bytes(range(128, 256)) * 100 + b"\xed\xa0\x80\xf8\x88\x80\x80\x80\xc0\xaf\xff\xfe")
