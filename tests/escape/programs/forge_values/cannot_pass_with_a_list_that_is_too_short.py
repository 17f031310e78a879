# claim: a completion cannot pass with a list that is too short
# profile: function
# win: pass
# control_safe: true
# control: all_pairs
# expected: [1, 2, 3]

def solve(target):
    return []
