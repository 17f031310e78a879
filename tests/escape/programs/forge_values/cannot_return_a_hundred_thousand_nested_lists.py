# claim: a completion cannot return a hundred thousand nested lists
# profile: function
# win: host
# control_safe: true

def solve(target):
    value = []
    for _ in range(100_000):
        value = [value]
    return value
