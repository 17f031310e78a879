"""Into any directory but the workspace, its home, /tmp and shared memory."""

import os

own = ("/workspace", "/home/agent", "/tmp", "/dev/shm", "/proc", "/dev/pts")
seen = 0
for folder, inside, _ in os.walk("/"):
    if folder.startswith(own) or folder.count("/") > 5:
        inside.clear()
        continue
    seen += 1
    try:
        path = os.path.join(folder, f"written-{os.getpid()}")
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        os.unlink(path)
        print(f"ESCAPED: wrote into {folder}")
    except OSError:
        pass
    if seen > 20000:
        break
for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/1/oom_score_adj"):
    try:
        os.close(os.open(path, os.O_WRONLY))
        print(f"ESCAPED: opened {path} to write")
    except OSError:
        pass
