# claim: a completion cannot hang a checker with a huge number
# profile: function
# win: host
# control_safe: false
# checker: counted_down
# expected: 3
# control: counted_down

def solve(target):
    return 10**30
