# claim: a completion cannot raise a deep group of exceptions
# profile: function
# win: host
# control_safe: false

def solve(target):
    error = ValueError("x")
    for _ in range(50_000):
        error = ExceptionGroup("g", [error])
    raise error
