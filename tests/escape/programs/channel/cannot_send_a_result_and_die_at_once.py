# claim: a completion cannot send a result and die at once
# profile: function
# win: host
# control_safe: false
import json
import os
import struct


def solve(target):
    """Races the judge: the frame and the end of the process arrive together."""
    body = json.dumps({"outputs": ["raced"], "value": "raced"}).encode()
    for number in range(3, 64):
        try:
            os.write(number, struct.pack(">I", len(body)) + body)
        except OSError:
            continue
    os.kill(os.getpid(), 9)
