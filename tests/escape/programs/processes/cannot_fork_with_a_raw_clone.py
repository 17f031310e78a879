# claim: a completion cannot fork with a raw clone
# profile: function
# win: value
# control_safe: true
import os
import signal

NUMBER = {"x86_64": 56, "aarch64": 220}  # clone


def attack(target):
    import ctypes

    libc = ctypes.PyDLL(None, use_errno=True)
    numbers = (NUMBER[os.uname().machine], int(signal.SIGCHLD), 0, 0, 0, 0)
    child = libc.syscall(*map(ctypes.c_long, numbers))
    if child == 0:
        os._exit(0)
    if child < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return f"PWNED: {os.waitpid(child, 0)}"


def solve(target):
    try:
        return attack(target)
    except Exception as error:
        return f"blocked: {error!r}"
