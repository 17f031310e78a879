"""More than it may have at once."""

import os
import signal

MOST = 80
children = []
try:
    while len(children) < MOST:
        pid = os.fork()
        if pid == 0:
            signal.pause()
        children.append(pid)
except OSError:
    pass
if len(children) >= MOST:
    print(f"ESCAPED: {len(children)} processes at once")
for pid in children:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
