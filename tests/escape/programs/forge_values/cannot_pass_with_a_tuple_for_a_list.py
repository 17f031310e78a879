# claim: a completion cannot pass with a tuple for a list
# profile: function
# win: pass
# control_safe: true
# control: json_equal
# expected: [1, 2]

def solve(target):
    return (1, 2)
