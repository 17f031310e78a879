# claim: a completion cannot dodge its processor limit in children
# profile: program
# win: host
# control_safe: false
# expect: timeout,limit,error,failed
import os

while True:
    try:
        child = os.fork()
    except OSError:
        continue
    if child == 0:
        for _ in range(10**7):
            pass
        os._exit(0)
    os.waitpid(child, 0)
