# claim: a completion cannot send its result twice from two threads
# profile: function
# win: host
# control_safe: false
import os
import threading


def shout():
    for _ in range(200):
        for number in range(3, 32):
            try:
                os.write(number, b'{"outputs": ["x"]}\n')
            except OSError:
                continue


def solve(target):
    for _ in range(8):
        threading.Thread(target=shout, daemon=True).start()
    return "answer"
