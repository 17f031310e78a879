# claim: a completion cannot close its outputs and stay
# profile: stdio
# win: host
# control_safe: false
# expect: timeout,failed,error,limit
import os
import time

os.close(1)
os.close(2)
time.sleep(600)
