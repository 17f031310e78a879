# claim: a completion cannot pass with true for one
# profile: function
# win: pass
# control_safe: true
# control: equal
# expected: 1

def solve(target):
    return True
