# claim: a completion cannot pass with integer keys for string keys
# profile: function
# win: pass
# control_safe: true
# control: json_equal
# expected: {"1": "a"}

def solve(target):
    return {1: "a"}
