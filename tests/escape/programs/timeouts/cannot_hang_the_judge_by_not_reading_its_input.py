# claim: a completion cannot hang the judge by not reading its input
# profile: stdio
# win: host
# control_safe: true
# expect: timeout
import os
import time

os.set_blocking(0, False)
time.sleep(600)
