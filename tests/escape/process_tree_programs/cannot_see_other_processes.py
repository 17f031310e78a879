"""Only its own are there, and process 1 cannot be looked into."""

import os
import signal
import sys

pids = {int(name) for name in os.listdir("/proc") if name.isdigit()}
if len(pids) > 3:
    print(f"ESCAPED: it sees {len(pids)} processes")
for path in ("/proc/1/mem", "/proc/1/environ", "/proc/1/fd/0", "/proc/1/exe", "/proc/1/root/etc"):
    try:
        os.close(os.open(path, os.O_RDONLY))
        print(f"ESCAPED: opened {path}")
    except OSError:
        pass
try:
    os.kill(int(sys.argv[7]), signal.SIGTERM)
    print("ESCAPED: signalled a process of the host")
except OSError:
    pass
