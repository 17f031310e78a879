# claim: a completion cannot survive as a stopped process
# profile: program
# win: left_over
# control_safe: false
# leaves: process: a stopped child
# expect: failed,error,timeout,limit
import os
import signal

child = os.fork()
if child == 0:
    os.setsid()
    os.kill(os.getpid(), signal.SIGSTOP)
os.waitpid(child, os.WUNTRACED)
print("stopped")
