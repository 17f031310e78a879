"""Completions that take all that a job can get hold of, and keep it: the neighbours from hell.

Each is the text of a program; `crowd_run.py` puts several of them on the worker that the honest
ones of `crowd_honest.py` are judged on. None of them needs to succeed: what is refused to one is
refused, and it goes on holding what it has.
"""

from __future__ import annotations

_THREADS = """
import threading, time
threading.stack_size(1 << 16)
for _ in range(2000):
    try:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    except BaseException:
        time.sleep(0.002)
time.sleep(60)
"""
_NATIVE_THREADS = """
import _thread, time
_thread.stack_size(1 << 15)
for _ in range(4000):
    try:
        _thread.start_new_thread(time.sleep, (60,))
    except BaseException:
        time.sleep(0.001)
time.sleep(60)
"""
_MEMORY = """
import time
block = bytearray(420 << 20)
block[::4096] = b"x" * len(block[::4096])
time.sleep(60)
"""
_MEMORY_GROWTH = """
import time
kept = []
while True:
    try:
        kept.append(bytearray(b"x" * (1 << 20)))
    except MemoryError:
        time.sleep(0.05)
"""
_MAPPINGS = """
import mmap, time
kept = []
while len(kept) < 60000:
    try:
        page = mmap.mmap(-1, 4096 if len(kept) % 2 else 1 << 12, prot=3 if len(kept) % 2 else 1)
        page.read(1)
        kept.append(page)
    except BaseException:
        time.sleep(0.05)
        break
time.sleep(60)
"""
_SPIN = """
while True:
    pass
"""
_SPINNING_THREADS = """
import hashlib, threading
def work():
    while True:
        hashlib.sha256(bytes(1 << 20)).digest()
for _ in range(12):
    try:
        threading.Thread(target=work, daemon=True).start()
    except BaseException:
        pass
work()
"""
_BOUND_THREADS = """
import hashlib, os, threading
try:
    core = open("/proc/thread-self/stat").read().split()[38]
except OSError:
    core = min(os.sched_getaffinity(0))
def work():
    try:
        os.sched_setaffinity(0, {int(core)})
    except OSError:
        pass
    while True:
        hashlib.sha256(bytes(1 << 20)).digest()
for _ in range(12):
    try:
        threading.Thread(target=work, daemon=True).start()
    except BaseException:
        pass
work()
"""
_MOVING_THREADS = """
import os, threading
cores = sorted(os.sched_getaffinity(0))
def work():
    while True:
        for core in cores:
            try:
                os.sched_setaffinity(0, {core})
            except OSError:
                pass
for _ in range(12):
    try:
        threading.Thread(target=work, daemon=True).start()
    except BaseException:
        pass
work()
"""
_DESCRIPTORS = """
import os, time
kept = []
while True:
    try:
        kept.append(os.open(os.__file__, os.O_RDONLY))
    except OSError:
        time.sleep(0.05)
"""
_PIPES = """
import os, time
while True:
    try:
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        os.write(writer, bytes(1 << 16))
    except OSError:
        time.sleep(0.05)
"""
_SIGNALS = """
import signal, time
hits = 0
def count(*_):
    global hits
    hits += 1
signal.signal(signal.SIGALRM, count)
signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
for number in range(1, 65):
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, {number} - {signal.SIGALRM})
        signal.pthread_kill(__import__("threading").get_ident(), number)
    except BaseException:
        pass
while True:
    time.sleep(1)
"""
_SLEEP = "import time\ntime.sleep(60)\n"
_FLOOD = """
import os, time
while True:
    for fd in (1, 2, 3, 4):
        try:
            os.write(fd, b"[0, \\"ok\\", 9]\\n" * 20)
        except OSError:
            pass
    time.sleep(0.01)
"""
_PAGE_CACHE = """
import glob, os, time
folder = os.path.dirname(os.__file__)
files = glob.glob(folder + "/**/*.py*", recursive=True) + glob.glob(folder + "/lib-dynload/*")
while True:
    for path in files:
        try:
            handle = os.open(path, os.O_RDONLY)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)
        except BaseException:
            pass
    time.sleep(0.01)
"""
_READING = """
import glob, os
files = glob.glob("/usr/**/*.so*", recursive=True) + glob.glob(os.path.dirname(os.__file__) + "/*")
while True:
    for path in files:
        try:
            with open(path, "rb") as file:
                while file.read(1 << 20):
                    pass
        except BaseException:
            pass
"""
_FORKS = """
import os, time
while True:
    try:
        if os.fork() == 0:
            time.sleep(60)
    except BaseException:
        time.sleep(0.01)
"""
_LOCKS = """
import fcntl, glob, os, time
kept = []
for path in glob.glob(os.path.dirname(os.__file__) + "/*.py") + [os.__file__]:
    try:
        handle = os.open(path, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        kept.append(handle)
    except BaseException:
        pass
time.sleep(60)
"""
_OBJECTS = """
import ctypes, time
call = ctypes.CDLL(None).syscall
def attempt(*words):
    try:
        return call(*[ctypes.c_long(word) for word in words])
    except BaseException:
        return -1
for round in range(300):
    attempt(29, 0, 1 << 20, 0o1600)      # shmget
    attempt(64, 0, 16, 0o1600)           # semget
    attempt(68, 0, 0o1600)               # msgget
    attempt(319, ctypes.cast(ctypes.c_char_p(b"x"), ctypes.c_void_p).value, 0)  # memfd_create
    attempt(294, 0)                      # inotify_init1
    attempt(291, 0)                      # epoll_create1
    attempt(283, 1, 0)                   # timerfd_create
    attempt(290, 1 << 20, 0)             # eventfd2
    timer = (ctypes.c_int * 2)()
    attempt(222, 1, 0, ctypes.addressof(timer))  # timer_create: takes a queued signal each
time.sleep(60)
"""
_CHANNEL = """
import array, os, socket, time
for fd in (3, 4):
    try:
        end = socket.socket(fileno=os.dup(fd))
        end.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd] * 200))])
    except BaseException:
        pass
time.sleep(60)
"""
_RECURSION = """
import sys, threading, time
sys.setrecursionlimit(10**7)
threading.stack_size(400 << 20)
def down(n):
    return n if n > 200000 else down(n + 1) + 1
def work():
    down(0)
    time.sleep(60)
try:
    threading.Thread(target=work).start()
except BaseException:
    time.sleep(60)
"""
_DISK = """
import os, time
count = 0
while True:
    try:
        with open(f"/tmp/fill{count}", "wb") as file:
            file.write(bytes(1 << 20))
        count += 1
    except OSError:
        time.sleep(0.05)
        count += 1
"""
_INODES = """
import os, time
count = 0
while True:
    try:
        os.mkdir(f"/tmp/folder{count}")
        count += 1
    except OSError:
        time.sleep(0.05)
"""
_FORKED_MEMORY = """
import os, time
for _ in range(12):
    try:
        if os.fork() == 0:
            block = bytearray(200 << 20)
            block[::4096] = b"x" * len(block[::4096])
            time.sleep(60)
    except BaseException:
        pass
time.sleep(60)
"""
_SPINNING_FORKS = """
import os
for _ in range(24):
    try:
        if os.fork() == 0:
            break
    except OSError:
        pass
while True:
    pass
"""
_SOCKETS = """
import os, socket, time
kept = []
for _ in range(8):
    if os.fork() == 0:
        break
while True:
    try:
        pair = socket.socketpair()
        pair[0].setblocking(False)
        kept.append(pair)
        while pair[0].send(bytes(1 << 16)):
            pass
    except BaseException:
        time.sleep(0.05)
"""

HOGS = {
    "threads": _THREADS,
    "native threads": _NATIVE_THREADS,
    "memory": _MEMORY,
    "growing memory": _MEMORY_GROWTH,
    "mappings": _MAPPINGS,
    "spinning": _SPIN,
    "spinning threads": _SPINNING_THREADS,
    "threads on one core": _BOUND_THREADS,
    "threads that move": _MOVING_THREADS,
    "descriptors": _DESCRIPTORS,
    "pipes": _PIPES,
    "signals": _SIGNALS,
    "sleeping": _SLEEP,
    "output": _FLOOD,
    "page cache": _PAGE_CACHE,
    "reading": _READING,
    "forks": _FORKS,
    "locks": _LOCKS,
    "kernel objects": _OBJECTS,
    "channel": _CHANNEL,
    "recursion": _RECURSION,
}
"""For workers of jobs that have no file and no process of their own; they run in any other too."""

WRITING_HOGS = {"disk": _DISK, "inodes": _INODES, "threads": _THREADS, "memory": _MEMORY,
                "locks": _LOCKS}  # fmt: skip
"""For jobs with a private directory."""

PROGRAM_HOGS = {
    "threads": _THREADS,
    "forks": _FORKS,
    "forked memory": _FORKED_MEMORY,
    "spinning forks": _SPINNING_FORKS,
    "disk": _DISK,
    "sockets": _SOCKETS,
    "kernel objects": _OBJECTS,
    "locks": _LOCKS,
}
"""For jobs that may start processes."""
