# claim: a completion cannot use multiprocessing
# profile: function
# win: value
# control_safe: true
import os


def attack(target):
    import multiprocessing

    context = multiprocessing.get_context("fork")
    reading, writing = context.Pipe()
    process = context.Process(target=lambda: writing.send(os.getpid()))
    process.start()
    process.join(5)
    return f"PWNED: process {reading.recv()} ran"


def solve(target):
    try:
        return attack(target)
    except Exception as error:
        return f"blocked: {error!r}"
