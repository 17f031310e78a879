# claim: a completion cannot bomb the host with forks where processes are allowed
# profile: program
# win: host
# control_safe: false
# leaves: processes without end
# expect: failed,error,timeout,limit
import os

while True:
    try:
        os.fork()
    except OSError:
        continue
