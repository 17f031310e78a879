# claim: a completion cannot pass with infinity against a relative tolerance
# profile: function
# win: pass
# control_safe: true
# control: relative
# expected: 0.5

def solve(target):
    return float("inf")
