# claim: a completion cannot fork with clone3
# profile: function
# win: value
# control_safe: true
import os
import signal
import struct

NUMBER = 435  # clone3, the same on every architecture


def attack(target):
    import ctypes

    libc = ctypes.PyDLL(None, use_errno=True)
    fields = struct.pack("8Q", 0, 0, 0, 0, int(signal.SIGCHLD), 0, 0, 0)
    arguments = ctypes.create_string_buffer(fields, 64)
    child = libc.syscall(ctypes.c_long(NUMBER), arguments, ctypes.c_long(64))
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
