# claim: a completion cannot pass an expression that names the answer
# profile: function
# win: pass
# control_safe: true
# control: evaluated

def solve(target):
    return "expected"
