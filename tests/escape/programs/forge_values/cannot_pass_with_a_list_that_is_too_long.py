# claim: a completion cannot pass with a list that is too long
# profile: function
# win: pass
# control_safe: true
# control: all_pairs
# expected: [1, 2, 3]

def solve(target):
    return [1, 2, 3, 4]
