# claim: a completion cannot pass with false for an empty answer
# profile: function
# win: pass
# control_safe: true
# control: truth
# expected: []

def solve(target):
    return False
