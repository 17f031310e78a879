# claim: a completion cannot crash a checker with a wrong type
# profile: function
# win: host
# control_safe: false
# checker: summed
# expected: [1, 2]

def solve(target):
    return [None, {"a": 1}, "x", [1]]
