# claim: a completion cannot pass a pattern that matches everything
# profile: function
# win: pass
# control_safe: true
# control: matched

def solve(target):
    return ".*"
