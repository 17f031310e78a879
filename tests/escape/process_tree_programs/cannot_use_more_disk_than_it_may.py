"""In all its directories together, with large files and with many small ones."""

import os

MOST = 40 << 20
written = 0
for folder in ("/workspace", "/home/agent", "/tmp", "/dev/shm"):
    os.makedirs(folder, exist_ok=True)
    try:
        with open(f"{folder}/large", "wb", buffering=0) as file:
            while written <= MOST:
                written += file.write(b"x" * (1 << 20))
    except OSError:
        pass
if written > MOST:
    print(f"ESCAPED: wrote {written} bytes")
for folder in ("/workspace", "/home/agent", "/tmp", "/dev/shm"):
    if os.path.exists(f"{folder}/large"):
        os.unlink(f"{folder}/large")
made = 0
os.makedirs("/tmp/many", exist_ok=True)
try:
    while made < 20000:
        os.close(os.open(f"/tmp/many/{made}", os.O_CREAT | os.O_WRONLY))
        made += 1
except OSError:
    pass
for name in os.listdir("/tmp/many"):
    os.unlink(f"/tmp/many/{name}")
os.rmdir("/tmp/many")
if made >= 20000:
    print(f"ESCAPED: made {made} files")
