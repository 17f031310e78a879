# claim: a completion cannot hold its output open with a child
# profile: program
# win: host
# control_safe: true
# leaves: a pipe whose end never comes, for a judge that reads until the end
# expect: failed,error,timeout,limit
import os
import time

if os.fork() == 0:
    time.sleep(600)
    os._exit(0)
print("the parent is done")
