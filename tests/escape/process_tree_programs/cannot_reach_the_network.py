"""Neither the host's loopback nor other addresses, by no family of sockets."""

import os
import socket
import sys

port = int(sys.argv[4])
for address in ("127.0.0.1", "0.0.0.0", "::1", "localhost", sys.argv[5]):
    try:
        socket.create_connection((address, port), 1).close()
        print(f"ESCAPED: connected to {address}")
    except OSError:
        pass
try:
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(f"\0{sys.argv[6]}")
        print("ESCAPED: connected to an abstract unix socket")
except OSError:
    pass
for family, kind, name in ((socket.AF_VSOCK, socket.SOCK_STREAM, "vsock"),
                           (socket.AF_PACKET, socket.SOCK_RAW, "packet"), (38, 5, "alg"),
                           (socket.AF_INET, socket.SOCK_RAW, "raw")):  # fmt: skip
    try:
        socket.socket(family, kind).close()
        print(f"ESCAPED: made a {name} socket")
    except OSError:
        pass
with open("/proc/net/dev") as file:
    names = [line.partition(":")[0].strip() for line in file if ":" in line]
if names != ["lo"]:
    print(f"ESCAPED: it has {names}")
if os.path.exists("/var/run/docker.sock"):
    print("ESCAPED: the container daemon's socket is there")
