# claim: a completion cannot make a directory
# profile: function
# win: value
# control_safe: true
import os


def attack(target):
    path = f"/tmp/directory_of_a_candidate_{os.getpid()}"
    os.mkdir(path)
    return f"PWNED: {os.stat(path)}"


def solve(target):
    try:
        return attack(target)
    except Exception as error:
        return f"blocked: {error!r}"
