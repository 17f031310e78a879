# claim: a completion cannot leave its workspace through a bind mount
# profile: program
# win: value
# control_safe: false
import json
import os
import sys

json.loads(sys.stdin.readline())
found = []
for root, folders, names in os.walk("."):
    for name in [*folders, *names]:
        path = os.path.join(root, name)
        try:
            handle = os.open(os.path.join(path, "../../../../etc/shadow"), os.O_RDONLY)
        except OSError:
            continue
        found.append((path, len(os.read(handle, 10))))
print(f"PWNED: {found}" if found else "blocked: no way out")
