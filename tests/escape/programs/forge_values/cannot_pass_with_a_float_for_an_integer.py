# claim: a completion cannot pass with a float for an integer
# profile: function
# win: pass
# control_safe: true
# control: equal
# expected: 1

def solve(target):
    return 1.0
