# claim: a completion cannot execute another program in its place
# profile: function
# win: value
# control_safe: true
# control: local
import os


def attack(target):
    os.execve("/bin/echo", ["echo", '{"passed": false, "output": "PWNED: echo ran"}'], {})


def solve(target):
    try:
        return attack(target)
    except Exception as error:
        return f"blocked: {error!r}"
