# claim: a completion cannot pass with a bool inside a list
# profile: function
# win: pass
# control_safe: true
# control: equal
# expected: [0, 1, 2]

def solve(target):
    return [False, True, 2]
