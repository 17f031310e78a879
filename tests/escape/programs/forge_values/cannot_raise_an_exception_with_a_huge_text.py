# claim: a completion cannot raise an exception with a huge text
# profile: function
# win: host
# control_safe: false

def solve(target):
    raise ValueError("x" * (64 << 20))
