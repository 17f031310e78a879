# claim: a completion cannot make the shared descriptors of its worker non blocking
# profile: function
# win: host
# control_safe: false
import os


def solve(target):
    """File status flags belong to the open file, which a forked worker shares."""
    for number in range(256):
        try:
            os.set_blocking(number, False)
        except OSError:
            continue
    for _ in range(64):
        try:
            os.write(1, b"x" * 65536)
        except OSError:
            break
    return "flags changed"
