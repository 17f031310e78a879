"""By its path, through the roots of other processes, and below every directory there is."""

import os
import sys

secret, content = sys.argv[1], sys.argv[2].encode()
paths = [secret, f"/proc/1/root{secret}", f"/proc/self/root{secret}", f"/proc/self/cwd/..{secret}"]
paths += ["/etc/shadow", "/etc/machine-id", "/proc/kcore", "/proc/1/environ"]
for path in paths:
    try:
        with open(path, "rb") as file:
            if file.read(1 << 16):
                print(f"ESCAPED: read {path}")
    except OSError:
        pass
MOST = 1000
"""Files of each directory: enough for all that a process tree has."""
for top in ("/home", "/root", "/var", "/srv", "/opt", "/mnt", "/run", "/tmp", "/workspace", "/old"):
    seen = 0
    for folder, inside, names in os.walk(top):
        for name in names:
            seen += 1
            if seen > MOST:
                inside.clear()
                break
            try:
                # Without waiting: the file may be a pipe.
                fd = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NONBLOCK)
                with open(fd, "rb") as file:
                    if content in (file.read(1 << 16) or b""):
                        print(f"ESCAPED: found it in {folder}/{name}")
            except OSError:
                pass
