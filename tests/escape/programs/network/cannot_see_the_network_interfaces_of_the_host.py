# claim: a completion cannot see the network interfaces of the host
# profile: program
# win: value
# control_safe: false
import json
import socket
import sys

json.loads(sys.stdin.readline())
try:
    names = [name for _, name in socket.if_nameindex() if name not in ("lo", "sit0", "tunl0")]
    print(f"PWNED: {names}" if names else "blocked: only the loopback interface")
except OSError as error:
    print(f"blocked: {error!r}")
