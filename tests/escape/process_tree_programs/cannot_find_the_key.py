"""In its environment, in that of any process, on a command line, or in memory that it may read."""

import os
import sys

key = bytes.fromhex(sys.argv[3])
if key in os.fsencode(repr(dict(os.environ))):
    print("ESCAPED: it is in the environment")
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline"):
        try:
            with open(f"/proc/{pid}/{name}", "rb") as file:
                if key in file.read():
                    print(f"ESCAPED: it is in {name} of process {pid}")
        except OSError:
            pass
if os.path.exists(sys.argv[1]):
    print("ESCAPED: the place where the host keeps it is there")
