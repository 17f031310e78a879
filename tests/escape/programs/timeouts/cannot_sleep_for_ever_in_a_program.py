# claim: a completion cannot sleep for ever in a program
# profile: stdio
# win: host
# control_safe: true
# expect: timeout
import time

time.sleep(10**6)
