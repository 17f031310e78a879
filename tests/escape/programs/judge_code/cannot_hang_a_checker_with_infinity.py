# claim: a completion cannot hang a checker with infinity
# profile: function
# win: host
# control_safe: false
# checker: counted_down
# expected: 3
# control: counted_down

def solve(target):
    return float("inf")
