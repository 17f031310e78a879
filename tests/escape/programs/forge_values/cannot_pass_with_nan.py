# claim: a completion cannot pass with NaN
# profile: function
# win: pass
# control_safe: true
# control: close
# expected: 0.5

def solve(target):
    return float("nan")
